/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of x86 instructions with a VEX or EVEX prefix, and of those of the system without an
 * operand in memory (0F 00 and 0F 01, as rdpkru), of which capstone 4 does not know all: one that
 * is unknown must not shift those that follow (Intel's manual, volume 2, 2.3, 2.7 and A.4).
 */
#ifndef ANNOTATE_VECTOR_LENGTH_H
#define ANNOTATE_VECTOR_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of ModRM, SIB and displacement at CODE, for addresses of 32 or 64 bits. SIZE is not 0. */
size_t operand_length(const uint8_t *code, size_t size);
/* 0: there is no such instruction at CODE, or not all of it is in its SIZE bytes. */
size_t vector_length(const uint8_t *code, size_t size, bool is_64_bit);

#endif
