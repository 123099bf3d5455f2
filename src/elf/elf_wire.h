/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the caged parser of the host's ELF files and its owner (walls/messages.h).
 * A new parser first sends one byte, ELF_READY. Each question has an open file next to it, and gets
 * one struct elf_answer.
 */
#ifndef ELF_WIRE_H
#define ELF_WIRE_H

#include <stdint.h>

#include "elf/build_id.h"

#define ELF_READY 1
#define ELF_ASK_BUILD_ID 2 /* a question: one byte */

struct elf_answer {
	uint8_t bytes; /* of the build-id, at most BUILD_ID_MAX; 0: there is none */
	uint8_t build_id[BUILD_ID_MAX];
};

#endif
