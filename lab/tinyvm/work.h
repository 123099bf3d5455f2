/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The work that the unikernel's hot functions do: a round is the same loop of the same
 * length wherever it is inlined, so that the time in two functions is in proportion to
 * their rounds. A round takes one or two microseconds, on hardware and in emulation.
 */
#ifndef TINYVM_WORK_H
#define TINYVM_WORK_H

#include <stdint.h>

#define ROUND_ITERATIONS 1000

/*
 * A function that call chains and profiles know by name: kept as written, not inlined,
 * cloned, merged with one of the same body or moved into its caller's constants. The loops
 * of all start at the same place in a cache line.
 */
#ifdef __clang__
#define KNOWN_FUNCTION __attribute__((noinline, aligned(64)))
#else
#define KNOWN_FUNCTION __attribute__((noipa, aligned(64)))
#endif

static inline __attribute__((always_inline)) uint64_t do_rounds(uint64_t rounds)
{
	uint64_t value = rounds;

	for (uint64_t i = rounds * ROUND_ITERATIONS; i != 0; i--) {
		value ^= value << 13;
		value ^= value >> 7;
		asm volatile("" : "+r"(value));
	}
	/*
	 * Takes the value through the stack: a leaf that does not touch the stack gets no frame
	 * from GCC even with -fno-omit-frame-pointer, and chains would lack its caller.
	 */
	asm volatile("" : : "m"(value));
	return value;
}

#endif
