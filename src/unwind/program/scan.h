/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may be callers where a chain ended before its end: the words in the rest of the stacks that
 * are addresses in code, of a kernel or its modules, or of a program's mappings. A true caller is
 * among them if its stack was copied; others are left over from calls that have returned, and
 * pointers to code.
 */
#ifndef UNWIND_PROGRAM_SCAN_H
#define UNWIND_PROGRAM_SCAN_H

#include "unwind/program/user.h"
#include "unwind/walk/unwind.h"

/*
 * Adds frames to CHAIN, as unwind_run() left it with the same arguments, marked as guessed, as far
 * as there is room. Nothing to a complete chain. How the chain ended stays as it was.
 */
void unwind_scan(const struct unwind_table *table, const struct unwind_stack *stacks,
		 size_t stack_count, struct unwind_chain *chain);
/* The same behind unwind_run_user(). */
void unwind_scan_user(const struct unwind_program *program, const struct unwind_stack *stacks,
		      size_t stack_count, struct unwind_chain *chain);

#endif
