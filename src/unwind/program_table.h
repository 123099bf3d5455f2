/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind data of a program's or library's file, by offsets in it. */
#ifndef UNWIND_PROGRAM_TABLE_H
#define UNWIND_PROGRAM_TABLE_H

#include "base/error.h"
#include "guest/program.h"
#include "unwind/table.h"

/* Errors as guest_elf_frames_read(); what of the data is missing or malformed is left out. */
struct error *unwind_table_read_file(const struct guest_elf_source *source,
				     struct unwind_table **ret) MUST_CHECK;
/* The same of what a guest's process has mapped; errors as guest_program_frames(). */
struct error *unwind_table_read_program(struct guest_program_reader *reader,
					const struct guest_program *program,
					struct unwind_table **ret) MUST_CHECK;

#endif
