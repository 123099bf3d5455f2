/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In a lab guest: a program whose chains are known; nearly all its time is frame_3()'s.
 * known_frames keeps frame pointers; untold_frames has neither these nor unwind data: who called
 * can only be guessed.
 */
#include <stdint.h>

#include "../../../lab/workloads/leave_guest.h"

#define KNOWN __attribute__((noipa))
#define ROUNDS 200000

static volatile uint64_t sink;

/* GCC leaves out the frame pointer of a function that uses no stack, whatever it is told. */
KNOWN static int frame_3(uint64_t x)
{
	volatile unsigned int left = ROUNDS;

	while (left) {
		left--;
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
	return 3;
}

KNOWN static int frame_2(uint64_t x)
{
	return frame_3(x + 1) - 1;
}

KNOWN static int frame_1(uint64_t x)
{
	volatile char space[200];

	space[x % sizeof(space)] = (char)x;
	return frame_2(x + 1) - space[x % sizeof(space)];
}

int main(void)
{
	for (uint64_t x = 1;; x++) {
		frame_1(x);
		leave_guest();
	}
}
