/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind data of a program's or library's file, by offsets in it. */
#ifndef UNWIND_PROGRAM_PROGRAM_TABLE_H
#define UNWIND_PROGRAM_PROGRAM_TABLE_H

#include "base/error.h"
#include "guest/process/program.h"
#include "unwind/program/frame_code.h"

/* Errors as guest_elf_frames_read(); what of the data is missing or malformed is left out. */
struct error *unwind_table_read_file(const struct guest_elf_source *source,
				     struct unwind_table **ret) MUST_CHECK;
/* Code of a file that is loaded as it is linked, a kernel's or a unikernel's. */
struct unwind_image {
	struct unwind_table *table; /* NULL: there are no data; its frame pointers are followed */
	struct symbol_table *symbols;
	struct unwind_functions functions;
	struct unwind_mapping code[GUEST_ELF_MAX_CODE]; /* of all of it, where it was linked to */
	size_t count;
};

/*
 * FILE is what SOURCE reads, and is borrowed. ERROR_NOT_FOUND, ERROR_UNSUPPORTED: it is no such
 * file, or has neither call frame information nor symbols. RET must stay where it is.
 */
struct error *unwind_image_read(const struct guest_elf_source *source, const uint8_t *file,
				struct unwind_image *ret) MUST_CHECK;
void unwind_image_deinit(struct unwind_image *image);
/* The same of what a guest's process has mapped; errors as guest_program_frames(). */
struct error *unwind_table_read_program(struct guest_program_reader *reader,
					const struct guest_program *program,
					struct unwind_table **ret) MUST_CHECK;

#endif
