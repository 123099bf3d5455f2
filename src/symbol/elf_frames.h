/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call frame information of ELF files of this machine. Nothing in the file is trusted. */
#ifndef SYMBOL_ELF_FRAMES_H
#define SYMBOL_ELF_FRAMES_H

#include "symbol/elf_file.h"

#define ELF_FRAMES_MAX_CODE 16
#define ELF_FRAMES_MAX_BYTES ((size_t)64 << 20) /* of a section; larger ones are left out */

struct elf_frames_section {
	uint8_t *data; /* owned; NULL: there is none */
	size_t bytes;
	uint64_t address; /* of DATA, as linked */
};

struct elf_frames {
	uint16_t machine; /* EM_* */
	struct elf_frames_section eh_frame, debug_frame;
	struct {
		uint64_t address, bytes, offset; /* as linked; in the file that is mapped */
	} code[ELF_FRAMES_MAX_CODE];
	size_t code_count; /* segments with code */
};

/*
 * Of RUNTIME, the file that is mapped when the program runs, and for .debug_frame also of DEBUG,
 * which may be the same. ERROR_NOT_FOUND: there is none; ERROR_UNSUPPORTED: they are of the other
 * byte order.
 */
struct error *elf_frames_read(struct elf_file *runtime, struct elf_file *debug,
			      struct elf_frames *ret) MUST_CHECK;
void elf_frames_deinit(struct elf_frames *frames);

#define _cleanup_elf_frames_ _cleanup_(elf_frames_deinit)

#endif
