/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source line of an address, and the functions that were inlined there, from the DWARF data of
 * one ELF file. libdw reads them; files of others belong into the cage (line_service.h).
 */
#ifndef LINES_DWARF_LINES_H
#define LINES_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

#define DWARF_LINES_MAX_FRAMES 64

/* A function at an address. Strings belong to the file's data. */
struct dwarf_frame {
	const char *function; /* as in the symbol table (mangled); NULL: not known */
	const char *file;     /* as the compiler wrote it; NULL: not known */
	uint32_t line;	      /* 0: not known */
};

/* The innermost first: all but the last are inlined into the next. */
struct dwarf_frames {
	struct dwarf_frame items[DWARF_LINES_MAX_FRAMES];
	size_t count;
};

struct dwarf_lines;

/* Takes FD, an open file; NULL: it has no DWARF data. */
struct dwarf_lines *dwarf_lines_open(int fd);
/* The same for an ELF image in memory, which is borrowed. */
struct dwarf_lines *dwarf_lines_open_memory(const void *data, size_t size);
void dwarf_lines_close(struct dwarf_lines *lines); /* takes NULL */

/* What is known of ADDRESS, as linked. RET->count is 0 if nothing is. */
void dwarf_lines_find(struct dwarf_lines *lines, uint64_t address, struct dwarf_frames *ret);

#endif
