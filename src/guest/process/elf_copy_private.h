/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by elf_copy.c (headers and sections), elf_dynamic.c (files without sections) and
 * elf_frames.c.
 */
#ifndef GUEST_PROCESS_ELF_COPY_PRIVATE_H
#define GUEST_PROCESS_ELF_COPY_PRIVATE_H

#include <gelf.h>

#include "guest/process/elf_copy.h"

/* Room after the file's own bytes, for section headers made by elf_dynamic.c. */
#define ELF_COPY_ROOM ((size_t)1 << 18)

struct elf_copy {
	const struct guest_elf_source *source;
	uint8_t *image; /* the file: copied parts, zeros elsewhere; then ELF_COPY_ROOM bytes */
	size_t bytes;	/* valid bytes of the image: the file's, and what was added */
	uint64_t budget; /* bytes that may still be read */
	bool missing;	/* something could not be read */
	Elf *elf;	/* of the image, as of the last elf_copy_reopen() */
	GElf_Ehdr header;
};

/*
 * Copies the file's header and its program headers; false: not a supported ELF file. Must be closed
 * in either case.
 */
bool elf_copy_open(const struct guest_elf_source *source, struct elf_copy *copy);
void elf_copy_close(struct elf_copy *copy);

/* Copies [OFFSET, OFFSET + SIZE) into the image; false: outside the file, missing, or too much. */
bool elf_copy_range(struct elf_copy *copy, uint64_t offset, uint64_t size);
/* Reopens the image with libelf after it has changed. */
bool elf_copy_reopen(struct elf_copy *copy);

/*
 * Copies the dynamic symbols and their names, found through PT_DYNAMIC as the loader finds them,
 * and adds section headers for them to the image. False: incomplete.
 */
bool elf_copy_dynamic(struct elf_copy *copy);

#endif
