/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose profile is known: three of four calls go to hot_a() and one to hot_b(). Both do
 * the same work, so 75 % of the samples in them are in hot_a(). It is linked statically and is not
 * position-independent, so nm shows its run-time addresses.
 *
 * Under emulation the same work does not take the same time in both. With an argument FILE, it
 * therefore writes hot_a()'s share of their time by its own clock to FILE from time to time:
 * "SHARE 0.7963". Its clock also counts when the host lets others run instead of the vCPU, which
 * samples do not: a pass that takes several times as long as the fastest one is left out.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "leave_guest.h"

#define WORK 20000
#define LONGEST_PASS 4 /* times the fastest one, for each call */

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

/* A different constant, so that the linker does not merge the two functions. */
__attribute__((noinline, noclone, aligned(64))) void hot_b(uint64_t seed)
{
	BODY(seed + 1);
}

/* 0 without a FILE: the program then runs no other code that could be sampled. */
static double now(bool tells)
{
	struct timespec time = { 0 };

	if (tells)
		clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void tell(const char *path, double share)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return;
	fprintf(file, "SHARE %.4f\n", share);
	fclose(file);
}

/*
 * The number of consecutive calls is random, because a loop of constant length may run in step with
 * a sampling timer.
 */
int main(int argc, char **argv)
{
	const bool tells = argc > 1;
	double in_a = 0, in_b = 0, fastest = 0;
	uint64_t random = 1;

	for (unsigned int pass = 1;; pass++) {
		double begin = now(tells), middle, end;
		unsigned int calls;

		random = random * 6364136223846793005 + 1442695040888963407; /* Knuth's MMIX */
		calls = 1 + (random >> 33) % 8;
		for (unsigned int i = 0; i < 3 * calls; i++)
			hot_a(random);
		middle = now(tells);
		for (unsigned int i = 0; i < calls; i++)
			hot_b(random);
		end = now(tells);
		if (!fastest || (end - begin) / calls < fastest)
			fastest = (end - begin) / calls;
		if ((end - begin) / calls <= LONGEST_PASS * fastest) {
			in_a += middle - begin;
			in_b += end - middle;
		}
		if (pass % 16 == 0)
			leave_guest();
		if (tells && pass % 256 == 0)
			tell(argv[1], in_a / (in_a + in_b));
	}
}
