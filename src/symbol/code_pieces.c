/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *	u64 magic, u32 machine, u32 flags; pieces up to the end: u64 address, u32 size, bytes
 */
#include "symbol/code_pieces.h"

#include "base/cursor.h"

#define MAGIC 0x505653434f444531ULL /* "PVSCODE1" in big-endian order */
#define FLAG_BIG_ENDIAN 1u

void code_pieces_begin(struct buffer *out, uint16_t machine, bool big_endian)
{
	buffer_append_u64(out, MAGIC);
	buffer_append_u32(out, machine);
	buffer_append_u32(out, big_endian ? FLAG_BIG_ENDIAN : 0);
}

void code_pieces_add(struct buffer *out, const struct code_piece *piece)
{
	buffer_append_u64(out, piece->address);
	buffer_append_u32(out, piece->size);
	buffer_append(out, piece->bytes, piece->size);
}

static struct error *bad(const char *what)
{
	return error_create(ERROR_BAD_DATA, "recorded code is damaged: %s", what);
}

static struct error *take_piece(struct cursor *cursor, struct code_pieces *pieces)
{
	struct code_piece piece = { .address = cursor_u64(cursor) };

	piece.size = cursor_u32(cursor);
	piece.bytes = cursor_bytes(cursor, piece.size);
	if (cursor->failed)
		return bad("it is too short");
	if (piece.size > UINT64_MAX - piece.address)
		return bad("a piece is beyond all addresses");
	if (pieces->items.count == CODE_PIECES_MAX)
		return bad("it has too many pieces");
	vector_append(&pieces->items, piece);
	return NULL;
}

struct error *code_pieces_decode(const void *data, size_t size, struct code_pieces *ret)
{
	struct cursor cursor = cursor_make(data, size, false);
	uint64_t magic = cursor_u64(&cursor);
	struct code_pieces pieces = { 0 };
	struct error *error = NULL;
	uint32_t machine;

	if (magic == __builtin_bswap64(MAGIC))
		cursor.swap = true;
	else if (magic != MAGIC)
		return bad("it does not begin as code does");
	machine = cursor_u32(&cursor);
	pieces.big_endian = cursor_u32(&cursor) & FLAG_BIG_ENDIAN;
	if (cursor.failed || machine > UINT16_MAX)
		return bad("its machine is unknown");
	pieces.machine = machine;
	while (!error && cursor_left(&cursor))
		error = take_piece(&cursor, &pieces);
	if (error)
		code_pieces_deinit(&pieces);
	else
		*ret = pieces;
	return error;
}

void code_pieces_deinit(struct code_pieces *pieces)
{
	vector_deinit(&pieces->items);
}
