/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In a lab guest: a program with a known call tree that lives for some 40 ms, and is executed anew
 * all the time. Its functions have no frame pointers, and frames of different sizes.
 *
 *	_start … main
 *	  short_left				short_right
 *	    short_inner				  short_inner
 *	      short_leaf			    short_leaf
 *	  qsort (the C library's)
 *	    … short_compare
 *	      short_leaf
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "../../../lab/workloads/leave_guest.h"

#define KNOWN __attribute__((noipa))
#define LIFE_MS 40
#define ROUNDS 3000

static volatile uint64_t sink;

KNOWN static uint64_t short_leaf(uint64_t x)
{
	for (int i = 0; i < ROUNDS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

KNOWN static uint64_t short_inner(uint64_t x)
{
	volatile uint64_t space[5];

	space[x % 5] = x;
	return short_leaf(space[x % 5]) + 1;
}

KNOWN static uint64_t short_left(uint64_t x)
{
	return short_inner(x) + 2;
}

KNOWN static uint64_t short_right(uint64_t x)
{
	volatile char space[200];

	space[x % 200] = (char)x;
	return short_inner(x) + (uint64_t)space[x % 200];
}

KNOWN static int short_compare(const void *left, const void *right)
{
	sink = short_leaf(*(const uint64_t *)left | 1) + 1;
	return *(const int *)left - *(const int *)right;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(void)
{
	int64_t end = now_ms() + LIFE_MS;

	while (now_ms() < end) {
		int numbers[6] = { 3, 1, 5, 2, 4, 0 };

		sink = short_left(sink + 1) + 1;
		sink = short_right(sink + 1) + 1;
		qsort(numbers, 5, sizeof(*numbers), short_compare);
		leave_guest();
	}
	return 0;
}
