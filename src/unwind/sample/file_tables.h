/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind data of a program's or library's file on this machine, by offsets in it. */
#ifndef UNWIND_SAMPLE_FILE_TABLES_H
#define UNWIND_SAMPLE_FILE_TABLES_H

#include "symbol/elf_frames.h"
#include "unwind/table/table.h"

struct file_tables {
	uint16_t machine; /* EM_* */
	struct unwind_table *eh_frame, *debug_frame; /* owned; NULL: there is none */
};

/*
 * Of machines that there is a walk for. What is malformed is left out, so that there may be no
 * table.
 */
void file_tables_init(struct file_tables *tables, const struct elf_frames *frames);
void file_tables_deinit(struct file_tables *tables);

#endif
