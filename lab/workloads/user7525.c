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

int main(void)
{
	for (uint64_t seed = 1;; seed++) {
		hot_a(seed);
		hot_a(seed);
		hot_a(seed);
		hot_b(seed);
		leave_guest();
	}
}
