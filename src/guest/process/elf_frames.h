/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call frame information of an x86 ELF file, 64- or 32-bit, of which perhaps only some bytes
 * can be read.
 */
#ifndef GUEST_PROCESS_ELF_FRAMES_H
#define GUEST_PROCESS_ELF_FRAMES_H

#include "guest/process/elf_copy.h"

#define GUEST_ELF_MAX_CODE 16
#define GUEST_ELF_FRAMES_PAGE 4096

struct guest_elf_frames {
	uint8_t *data; /* .eh_frame or .debug_frame; other data may follow */
	size_t bytes;
	uint64_t address;   /* of DATA, as linked */
	bool debug_frame;   /* not .eh_frame */
	bool bits32;        /* i386 */
	bool *pages;        /* whether each GUEST_ELF_FRAMES_PAGE is there; NULL: all are */
	size_t page_offset; /* of DATA in the first of these pages */
	/*
	 * Offsets in DATA where functions' records begin, ascending, from .eh_frame_hdr; NULL: it
	 * has no such table.
	 */
	uint32_t *records;
	size_t record_count;
	struct {
		uint64_t address, bytes, offset; /* as linked; in the file */
	} code[GUEST_ELF_MAX_CODE];
	size_t code_count; /* segments with code */
};

/*
 * Reads at most 16 MiB. ERROR_NOT_FOUND: not an ELF file, no such information, or it cannot be
 * read; ERROR_UNSUPPORTED: not x86 code. The message says which.
 */
struct error *guest_elf_frames_read(const struct guest_elf_source *source,
				    struct guest_elf_frames *ret) MUST_CHECK;
/* Reads only the code, from a file that need not have call frame information; errors as above. */
struct error *guest_elf_code_read(const struct guest_elf_source *source,
				  struct guest_elf_frames *ret) MUST_CHECK;
void guest_elf_frames_deinit(struct guest_elf_frames *frames);

#define _cleanup_guest_elf_frames_ _cleanup_(guest_elf_frames_deinit)

#endif
