/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded code: what is valid encodes to the same pieces. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "symbol/code_pieces.h"

static void check_same(const struct code_pieces *pieces, const struct buffer *bytes)
{
	struct code_pieces again;
	struct error *error = code_pieces_decode(bytes->data, bytes->size, &again);

	assert(!error && again.items.count == pieces->items.count);
	assert(again.machine == pieces->machine && again.big_endian == pieces->big_endian);
	for (size_t i = 0; i < again.items.count; i++) {
		const struct code_piece *left = &pieces->items.items[i];
		const struct code_piece *right = &again.items.items[i];

		assert(left->address == right->address && left->size == right->size);
		assert(!left->size || !memcmp(left->bytes, right->bytes, left->size));
	}
	code_pieces_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buffer_ struct buffer bytes;
	struct code_pieces pieces;
	struct error *error = code_pieces_decode(data, size, &pieces);

	buffer_init(&bytes, size + 64);
	if (error) {
		error_destroy(error);
		return 0;
	}
	code_pieces_begin(&bytes, pieces.machine, pieces.big_endian);
	for (size_t i = 0; i < pieces.items.count; i++) {
		const struct code_piece *piece = &pieces.items.items[i];

		assert(piece->address + piece->size >= piece->address);
		assert(piece->bytes >= data && piece->bytes + piece->size <= data + size);
		code_pieces_add(&bytes, piece);
	}
	check_same(&pieces, &bytes);
	code_pieces_deinit(&pieces);
	return 0;
}
