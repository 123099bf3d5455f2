/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What elf_copy.c (headers and sections), elf_dynamic.c (files without sections) and elf_frames.c
 * share.
 */
#ifndef GUEST_PROCESS_ELF_COPY_PRIVATE_H
#define GUEST_PROCESS_ELF_COPY_PRIVATE_H

#include <gelf.h>

#include "guest/process/elf_copy.h"

/* Behind the file's own bytes, for section headers that elf_dynamic.c makes. */
#define ELF_COPY_ROOM ((size_t)1 << 18)

struct elf_copy {
	const struct guest_elf_source *source;
	uint8_t *image; /* the file: what was copied, zeros elsewhere; then ELF_COPY_ROOM bytes */
	size_t bytes;	/* of the image that count: the file's, and what was added */
	uint64_t budget; /* bytes that may still be read */
	bool missing;	/* something was not to be had */
	Elf *elf;	/* of the image, as of the last elf_copy_reopen() */
	GElf_Ehdr header;
};

/*
 * Copies the file's header and its program headers; false: no such ELF file. To be closed either
 * way.
 */
bool elf_copy_open(const struct guest_elf_source *source, struct elf_copy *copy);
void elf_copy_close(struct elf_copy *copy);

/* Copies [OFFSET, OFFSET + SIZE) into the image; false: not in the file, missing, or too much. */
bool elf_copy_range(struct elf_copy *copy, uint64_t offset, uint64_t size);
/* Has libelf look at the image as it is now. */
bool elf_copy_reopen(struct elf_copy *copy);

/*
 * Copies the dynamic symbols and their names as the loader finds them, by PT_DYNAMIC, and gives the
 * image section headers that say where they are. False: not all there.
 */
bool elf_copy_dynamic(struct elf_copy *copy);

#endif
