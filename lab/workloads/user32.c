/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit program in a 64-bit guest: all its time is in hot32(), called by middle32(), which keeps
 * a frame pointer for its own needs, called by _start(). It needs no 32-bit library: it is linked
 * without any.
 */
#include <stdint.h>

#include "leave_guest.h"

#define WORK 20000

static volatile uint32_t sink;

__attribute__((noipa)) void hot32(uint32_t seed)
{
	for (unsigned int i = 0; i < WORK; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
	}
	sink = seed;
}

__attribute__((noipa)) void middle32(uint32_t seed)
{
	volatile uint32_t space[seed % 8 + 1]; /* a stack of no fixed size */

	space[seed % 8] = seed;
	hot32(space[seed % 8]);
	sink = space[seed % 8];
}

void _start(void)
{
	__asm__ volatile(".cfi_undefined 8"); /* eip: nothing called this */
	for (uint32_t seed = 1;; seed++) {
		middle32(seed);
		if (seed % 1024 == 0)
			leave_guest();
	}
}
