/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unikernel's program at CPL 3 (mode "user"), linked into the lower half of the address
 * space, out of the kernel's reach but through the addresses in start.S. It uses registers
 * and its stack only. The chain is user_main > user_step > user_hot.
 */
#include "guestabi.h"
#include "work.h"

/* One page for each vCPU. */
uint8_t user_stacks[MAX_VCPUS][PAGE_BYTES] __attribute__((aligned(PAGE_BYTES)));

void user_main(uint64_t rounds);

KNOWN_FUNCTION static uint64_t user_hot(uint64_t rounds)
{
	return do_rounds(rounds);
}

KNOWN_FUNCTION static uint64_t user_step(uint64_t rounds)
{
	return user_hot(rounds);
}

KNOWN_FUNCTION void user_main(uint64_t rounds)
{
	user_step(rounds);
	for (;;)
		asm volatile("syscall" : : : "rcx", "r11", "memory");
}
