/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by elf_file.c (opening), elf_symbols.c (symbols) and elf_frames.c. */
#ifndef SYMBOL_ELF_PRIVATE_H
#define SYMBOL_ELF_PRIVATE_H

#include <gelf.h>

#include "symbol/elf_file.h"

/* Limits for a file; far above any real one. */
#define ELF_MAX_SECTIONS ((size_t)1 << 20)
#define ELF_MAX_SEGMENTS 256
/* One section; libelf reads it whole, and holes in a file cost its author nothing. */
#define ELF_MAX_SECTION_BYTES ((uint64_t)512 << 20)
#define ELF_MAX_SECTION_NAMES_BYTES ((uint64_t)64 << 20)
#define ELF_NAME_MAX_BYTES 16384 /* longer symbol names are cut */
#define ELF_SECTION_NAME_BYTES 256 /* with the terminator; longer names of sections are cut */

enum section_flags {
	SECTION_ALLOC = 1 << 0,	     /* in memory when the program runs */
	SECTION_TEXT_DATA = 1 << 1,  /* "text" or "data" in its name: perf takes labels there */
	SECTION_TEXT = 1 << 2,
	SECTION_PERCPU = 1 << 3,     /* linked at 0, elsewhere at run time */
};

/* A loadable segment: which part of the file is mapped where. */
struct segment {
	uint64_t address;
	uint64_t offset;
	uint64_t bytes; /* in the file */
};

struct elf_file {
	char *name;
	int fd; /* -1: an image in memory */
	Elf *elf;
	uint64_t stamp;
	GElf_Ehdr header;
	struct build_id build_id;
	size_t notes; /* number of note sections read so far */
	char *debug_link;
	bool has_code, has_lines;
	struct segment *segments;
	size_t segment_count;
	const char *section_names; /* a part of the file, of section_names_bytes; NULL: none */
	size_t section_names_bytes;
	uint8_t *section_flags; /* enum section_flags for each section */
	size_t section_count;
	Elf_Scn *symtab, *dynsym; /* NULL: none */
	size_t dynsym_index;
	Elf_Scn *plt, *plt_sec, *plt_relocations;
};

/* Whether SECTION has at most MAX_BYTES in the file; false also for NULL. */
bool elf_file_section_fits(Elf_Scn *section, uint64_t max_bytes);
/*
 * Copies a section's name to TO. Unlike elf_strptr(), this takes no time that depends on the size
 * of all names, which a million sections may share. False: it has none.
 */
bool elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header,
			   char to[ELF_SECTION_NAME_BYTES]);
bool elf_file_is_foreign_order(const struct elf_file *file);

#endif
