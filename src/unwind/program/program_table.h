/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind data of a program's or library's file, by file offset. */
#ifndef UNWIND_PROGRAM_PROGRAM_TABLE_H
#define UNWIND_PROGRAM_PROGRAM_TABLE_H

#include "base/error.h"
#include "guest/process/program.h"
#include "unwind/program/frame_code.h"

/* Errors as for guest_elf_frames_read(); missing or malformed parts of the data are left out. */
struct error *unwind_table_read_file(const struct guest_elf_source *source,
				     struct unwind_table **ret) MUST_CHECK;
/* Code of a file that is loaded where it was linked: a kernel's or a unikernel's. */
struct unwind_image {
	struct unwind_table *table; /* NULL: there is no data; its frame pointers are followed */
	struct symbol_table *symbols;
	struct unwind_functions functions;
	struct unwind_mapping code[GUEST_ELF_MAX_CODE]; /* all of it, at its link address */
	size_t count;
};

/*
 * FILE is the file that SOURCE reads, and is borrowed. ERROR_NOT_FOUND, ERROR_UNSUPPORTED: not such
 * a file, or one with neither call frame information nor symbols. RET must not be moved.
 */
struct error *unwind_image_read(const struct guest_elf_source *source, const uint8_t *file,
				struct unwind_image *ret) MUST_CHECK;
void unwind_image_deinit(struct unwind_image *image);
/* The same for a file that a guest process has mapped; errors as for guest_program_frames(). */
struct error *unwind_table_read_program(struct guest_program_reader *reader,
					const struct guest_program *program,
					struct unwind_table **ret) MUST_CHECK;

#endif
