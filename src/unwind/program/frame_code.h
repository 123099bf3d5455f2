/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows for code that keeps frame pointers, made from the code itself: for code without unwind data.
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
 * The row for the position of WALK, in MAPPING, which has functions. NULL: its caller cannot be
 * determined for certain.
 */
const struct unwind_row *unwind_row_by_code(const struct unwind_program *program,
					    const struct unwind_mapping *mapping,
					    const struct unwind_walk *walk);

#endif
