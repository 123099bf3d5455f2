/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds possible callers if a chain ended early: words in the rest of the stacks that are addresses
 * in code of the kernel, its modules, or a program's mappings. The true callers are among them if
 * their part of the stack was copied; others are left over from calls that have returned, or are
 * pointers to code.
 */
#ifndef UNWIND_PROGRAM_SCAN_H
#define UNWIND_PROGRAM_SCAN_H

#include "unwind/program/user.h"
#include "unwind/walk/unwind.h"

/*
 * Adds frames to CHAIN, as unwind_run() left it with the same arguments, marks them as guesses, and
 * stops when it is full. Adds nothing to a complete chain. The reason why the chain ended is kept.
 */
void unwind_scan(const struct unwind_table *table, const struct unwind_stack *stacks,
		 size_t stack_count, struct unwind_chain *chain);
/* The same after unwind_run_user(). */
void unwind_scan_user(const struct unwind_program *program, const struct unwind_stack *stacks,
		      size_t stack_count, struct unwind_chain *chain);

#endif
