/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of code that keeps frame pointers, by the code itself: where no unwind data are to be had.
 */
#ifndef UNWIND_PROGRAM_FRAME_CODE_H
#define UNWIND_PROGRAM_FRAME_CODE_H

#include "symbol/table.h"
#include "unwind/program/user.h"
#include "unwind/walk/walk.h"

/* Code of a file whose functions are known. */
struct unwind_functions {
	const uint8_t *file; /* borrowed */
	uint64_t bytes;
	const struct symbol_table *symbols; /* by file offsets; borrowed */
};

/*
 * The row of what WALK is at, in MAPPING, which has functions. NULL: what its caller is cannot be
 * told for certain.
 */
const struct unwind_row *unwind_row_by_code(const struct unwind_program *program,
					    const struct unwind_mapping *mapping,
					    const struct unwind_walk *walk);

#endif
