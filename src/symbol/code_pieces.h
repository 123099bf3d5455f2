/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of a guest, as it was found in its memory: pieces with their addresses, in a byte form for
 * recordings, which store it like a symbol table (docs/perfvisor-sections.md, "Code").
 */
#ifndef SYMBOL_CODE_PIECES_H
#define SYMBOL_CODE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/vector.h"

struct code_piece {
	uint64_t address; /* of a kernel; of a file: the offset in it */
	const uint8_t *bytes;
	uint32_t size; /* the piece does not wrap around the end of the addresses */
};

struct code_pieces {
	uint16_t machine; /* EM_* of elf.h */
	bool big_endian;
	VECTOR(struct code_piece) items;
};

#define CODE_PIECES_MAX 4096 /* the recorder keeps at most 256 functions of a guest */

/* Begins the bytes of pieces; code_pieces_add() appends one. */
void code_pieces_begin(struct buffer *out, uint16_t machine, bool big_endian);
void code_pieces_add(struct buffer *out, const struct code_piece *piece);
/*
 * RET's pieces point into DATA, of either byte order; to be freed by code_pieces_deinit() unless it
 * fails. ERROR_BAD_DATA: DATA are not pieces, or have more than CODE_PIECES_MAX.
 */
struct error *code_pieces_decode(const void *data, size_t size,
				 struct code_pieces *ret) MUST_CHECK;
void code_pieces_deinit(struct code_pieces *pieces);

#endif
