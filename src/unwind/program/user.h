/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains of programs, by the unwind data of the files that they have mapped (dwarf_cfi.h). */
#ifndef UNWIND_PROGRAM_USER_H
#define UNWIND_PROGRAM_USER_H

#include "unwind/walk/unwind.h"

struct unwind_functions;

/* Mapped code; for a unikernel: each segment, where it is loaded. */
struct unwind_mapping {
	struct gva start, end;            /* end is exclusive */
	uint64_t offset;                  /* in the file, of START */
	const struct unwind_table *table; /* by file offsets; borrowed; NULL: there are no data */
	/*
	 * Of code without data that keeps frame pointers (frame_code.h); borrowed; NULL: not known.
	 */
	const struct unwind_functions *functions;
};

struct unwind_program {
	const struct unwind_mapping *mappings; /* sorted, without overlaps; borrowed */
	size_t count;
	/*
	 * Code without data keeps a frame pointer, by somebody's word: its callers are marked as
	 * guessed, and the chain is complete where the frame pointer is 0 (System V ABI, x86-64,
	 * 3.4.1).
	 */
	bool frame_pointers;
};

/* The mapping that has ADDRESS; NULL: none. */
const struct unwind_mapping *unwind_program_find(const struct unwind_program *program,
						 uint64_t address);
/*
 * As unwind_run(). UNWIND_COMPLETE: the data say that nothing called the last frame. A frame below
 * which the stack was switched by other means than a signal ends the chain (UNWIND_BAD).
 */
void unwind_run_user(const struct unwind_program *program, const struct unwind_registers *registers,
		     const struct unwind_stack *stacks, size_t stack_count,
		     struct unwind_chain *chain);

#endif
