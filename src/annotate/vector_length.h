/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of x86 instructions with a VEX or EVEX prefix, of which capstone 4 does not know all:
 * one that is unknown must not shift those that follow (Intel's manual, volume 2, 2.3 and 2.7).
 */
#ifndef ANNOTATE_VECTOR_LENGTH_H
#define ANNOTATE_VECTOR_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0: there is no such instruction at CODE, or not all of it is in its SIZE bytes. */
size_t vector_length(const uint8_t *code, size_t size, bool is_64_bit);

#endif
