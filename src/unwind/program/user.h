/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains of programs, using the unwind data of the files that they have mapped (dwarf_cfi.h).
 */
#ifndef UNWIND_PROGRAM_USER_H
#define UNWIND_PROGRAM_USER_H

#include "unwind/walk/unwind.h"

struct unwind_functions;

/* Mapped code; for a unikernel: each segment, at its load address. */
struct unwind_mapping {
	struct gva start, end;            /* end is exclusive */
	uint64_t offset;                  /* in the file, of START */
	const struct unwind_table *table; /* by file offset; borrowed; NULL: no data */
	const struct unwind_table *more;  /* likewise; used where TABLE has no row */
	/*
	 * For code without data that keeps frame pointers (frame_code.h); borrowed; NULL: unknown.
	 */
	const struct unwind_functions *functions;
};

struct unwind_program {
	const struct unwind_mapping *mappings; /* sorted, no overlaps; borrowed */
	size_t count;
	/*
	 * The user says that code without data keeps a frame pointer: its callers are marked as
	 * guesses, and the chain is complete where the frame pointer is 0 (System V ABI, x86-64,
	 * 3.4.1).
	 */
	bool frame_pointers;
	/*
	 * SP when the program was entered, 0: not known. Nothing called code that has this SP, if
	 * there are no data for it: that is a dynamic linker's entry.
	 */
	uint64_t entry_sp;
	/*
	 * If not NULL, finds them instead of MAPPINGS; gives NULL where there is none. What it
	 * gives stays where it is; with a later call it may become another mapping.
	 */
	const struct unwind_mapping *(*find)(void *context, uint64_t address);
	void *context;
};

/* The mapping that contains ADDRESS; NULL: none. */
const struct unwind_mapping *unwind_program_find(const struct unwind_program *program,
						 uint64_t address);
/* The row of ADDRESS, which is in MAPPING; NULL: there are no data for it. */
const struct unwind_row *unwind_mapping_find(const struct unwind_mapping *mapping,
					     uint64_t address);
/*
 * Like unwind_run(). UNWIND_COMPLETE: the data, or its SP, shows that nothing called the last
 * frame. The chain ends with UNWIND_BAD at a frame that switched stacks by means other than a
 * signal.
 */
void unwind_run_user(const struct unwind_program *program, const struct unwind_registers *registers,
		     const struct unwind_stack *stacks, size_t stack_count,
		     struct unwind_chain *chain);

#endif
