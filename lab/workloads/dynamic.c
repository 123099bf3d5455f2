/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A position-independent program with a shared library: half of its calls go to own_work(), half
 * to the C library's rand_r(), which that library exports.
 */
#include <stdlib.h>

#include "leave_guest.h"

#define WORK 20000

static volatile unsigned int sink;

__attribute__((noinline, noclone)) void own_work(unsigned int seed)
{
	for (unsigned int i = 0; i < WORK; i++)
		seed = seed * 1103515245 + 12345;
	sink = seed;
}

int main(void)
{
	for (unsigned int seed = 1;; seed++) {
		own_work(seed);
		for (unsigned int i = 0; i < WORK; i++)
			sink = rand_r(&seed);
		if (seed % 64 == 0)
			leave_guest();
	}
}
