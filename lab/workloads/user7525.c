/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose profile is known: of every four calls three go to hot_a() and one to
 * hot_b(), and both do the same work, so 75 % of the samples in them fall in hot_a().
 * Linked statically and not position-independent: nm tells the run-time addresses.
 */
#include <stdint.h>

#include "leave_guest.h"

#define WORK 20000

static volatile uint64_t sink;

#define BODY(seed)                                                                                 \
	do {                                                                                       \
		uint64_t x = (seed);                                                               \
		for (unsigned int i = 0; i < WORK; i++) {                                          \
			x ^= x << 13;                                                              \
			x ^= x >> 7;                                                               \
			x ^= x << 17;                                                              \
		}                                                                                  \
		sink = x;                                                                          \
	} while (0)

__attribute__((noinline, noclone, aligned(64))) void hot_a(uint64_t seed)
{
	BODY(seed);
}

/* Another constant keeps the linker from folding the two into one. */
__attribute__((noinline, noclone, aligned(64))) void hot_b(uint64_t seed)
{
	BODY(seed + 1);
}

/* Calls in a row are of random number: a loop of constant length may run in step with a sampling timer. */
int main(void)
{
	uint64_t random = 1;

	for (unsigned int pass = 0;; pass++) {
		unsigned int calls;

		random = random * 6364136223846793005 + 1442695040888963407; /* Knuth's MMIX */
		calls = 1 + (random >> 33) % 8;
		for (unsigned int i = 0; i < 3 * calls; i++)
			hot_a(random);
		for (unsigned int i = 0; i < calls; i++)
			hot_b(random);
		if (pass % 16 == 0)
			leave_guest();
	}
}
