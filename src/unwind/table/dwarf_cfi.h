/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind data of programs and libraries for x86 (64- and 32-bit), arm64 and ppc64le: converts
 * DWARF call frame information to a table.
 */
#ifndef UNWIND_TABLE_DWARF_CFI_H
#define UNWIND_TABLE_DWARF_CFI_H

#include "unwind/table/cfi.h"
#include "unwind/table/table.h"

#define DWARF_MAX_SECTION_BYTES ((size_t)64 << 20)
#define DWARF_MAX_FUNCTIONS ((size_t)1 << 20)

/* An executable segment of a file. */
struct dwarf_code {
	uint64_t address, bytes; /* as linked */
	uint64_t offset;         /* in the file */
};

/*
 * Adds the rows of SECTION for the code in CODE, by file offset. Malformed parts are left out;
 * after the first function, code without rows gets UNWIND_ROW_UNDEFINED. False: nothing was added.
 */
bool dwarf_add_section(struct unwind_table *table, const struct cfi_section *section,
		       const struct dwarf_code *code, size_t code_count);

#endif
