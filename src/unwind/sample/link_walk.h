/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains of programs on machines whose calls leave the return address in a register. */
#ifndef UNWIND_SAMPLE_LINK_WALK_H
#define UNWIND_SAMPLE_LINK_WALK_H

#include "unwind/program/user.h"

/*
 * Like unwind_run_user(), for arm64 and ppc64le: BP in REGISTERS is x29 or r31, LINK is the link
 * register. ADDRESS_BITS are the bits of a return address that are not a signature. Limits: the
 * chain ends at a signal's frame (UNWIND_NO_DATA).
 */
void unwind_run_link(const struct unwind_program *program, const struct unwind_registers *registers,
		     uint64_t link, uint64_t address_bits, const struct unwind_stack *stack,
		     struct unwind_chain *chain);

#endif
