/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit program in a 64-bit guest. It spends all its time in hot32(), which is called by
 * middle32(), which is called by _start(). middle32() keeps a frame pointer because it needs one.
 * The program is linked without libraries, so no 32-bit library is required.
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
	volatile uint32_t space[seed % 8 + 1]; /* a stack frame of variable size */

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
