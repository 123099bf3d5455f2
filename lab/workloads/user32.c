/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 32-bit program in a 64-bit guest: all its time is in hot32(). It needs no 32-bit library:
 * it is linked without any.
 */
#include <stdint.h>

#include "leave_guest.h"

#define WORK 20000

static volatile uint32_t sink;

__attribute__((noinline, noclone)) void hot32(uint32_t seed)
{
	for (unsigned int i = 0; i < WORK; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
	}
	sink = seed;
}

void _start(void)
{
	for (uint32_t seed = 1;; seed++) {
		hot32(seed);
		if (seed % 1024 == 0)
			leave_guest();
	}
}
