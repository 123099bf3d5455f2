/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In a lab guest: a program with frame pointers whose chain is known, LEVELS deep: far more stack
 * than is copied at a sample. Half of its time it is in the kernel.
 */
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../lab/workloads/leave_guest.h"

#define KNOWN __attribute__((noipa))
#define LEVELS 250
#define ROUNDS 100000
#define CALLS 1000

static volatile uint64_t sink;

KNOWN static int deep_leaf(uint64_t x)
{
	volatile unsigned int left = ROUNDS;

	while (left) {
		left--;
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
	for (int i = 0; i < CALLS; i++)
		asm volatile("syscall"
			     : "=a"(x)
			     : "0"((uint64_t)SYS_getppid)
			     : "rcx", "r11", "memory");
	return (int)x;
}

KNOWN static int deep_level(unsigned int left)
{
	volatile char space[100];

	space[left % sizeof(space)] = (char)left;
	return (left > 1 ? deep_level(left - 1) : deep_leaf(left)) + space[left % sizeof(space)];
}

int main(void)
{
	for (;;) {
		deep_level(LEVELS);
		leave_guest();
	}
}
