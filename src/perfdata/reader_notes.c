/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes: perfvisor's own records (docs/perfvisor-sections.md), which come in pieces. What is
 * malformed in a note leaves that note out, as with features.
 *
 * A recording with notes that has not got to the last one, NOTE_END, was cut off. In a file that
 * was finished the features behind the records say the same as the notes, and count.
 */
#include <string.h>

#include "base/cursor.h"
#include "perfdata/reader_state.h"

#define NOTE_MAX_BYTES ((size_t)1 << 30)

static void take_inventory(struct perfdata_reader *reader, struct cursor *cursor)
{
	struct reader_notes *notes = &reader->notes;
	uint64_t written_ns = cursor_u64(cursor);

	if (cursor->failed)
		return;
	if (!notes->first_ns)
		notes->first_ns = written_ns;
	notes->last_ns = written_ns;
	if (reader->finished)
		return;
	if (!reader->inventory) {
		reader->inventory = memory_alloc(sizeof(*reader->inventory));
		perfdata_inventory_init(reader->inventory);
	}
	error_destroy(perfdata_inventory_decode_news(cursor, reader->inventory));
}

static void take_note(struct perfdata_reader *reader, uint32_t kind, const struct buffer *bytes)
{
	struct cursor cursor = cursor_make(bytes->data, bytes->size, reader->swap);

	switch (kind) {
	case NOTE_INVENTORY:
		reader->news.vms++;
		return take_inventory(reader, &cursor);
	case NOTE_SYMBOLS:
		reader->news.symbols++;
		return perfdata_tables_take(reader, &cursor);
	case NOTE_SYMBOLS_END:
		reader->news.symbols++;
		return perfdata_tables_take_end(reader, &cursor);
	case NOTE_END:
		reader->notes.ended = true;
		return;
	}
	/* A feature: what it says may point into what it is read from. */
	if (kind < FORMAT_FEATURE_BITS && !reader->finished) {
		void *copy = arena_alloc(reader->arena, bytes->size + 1);

		if (bytes->size)
			memcpy(copy, bytes->data, bytes->size);
		perfdata_feature_take(reader, kind, copy, bytes->size);
	}
}

void perfdata_notes_take_piece(struct perfdata_reader *reader, struct cursor *cursor)
{
	struct reader_notes *notes = &reader->notes;
	struct format_note_piece piece = { .kind = cursor_u32(cursor) };
	const void *bytes;

	piece.number = cursor_u32(cursor);
	piece.pieces = cursor_u32(cursor);
	piece.bytes = cursor_u32(cursor);
	bytes = cursor_bytes(cursor, piece.bytes);
	if (!piece.number) {
		buffer_clear(&notes->bytes);
		notes->next = (struct format_note_piece){ .kind = piece.kind,
							  .pieces = piece.pieces };
	}
	if (cursor->failed || piece.kind != notes->next.kind ||
	    piece.number != notes->next.number || piece.pieces != notes->next.pieces) {
		notes->next = (struct format_note_piece){ .number = UINT32_MAX };
		return;
	}
	notes->seen = true;
	notes->next.number++;
	buffer_append(&notes->bytes, bytes, piece.bytes);
	if (notes->next.number != piece.pieces || notes->bytes.overflow)
		return;
	take_note(reader, piece.kind, &notes->bytes);
	buffer_clear(&notes->bytes);
}

void perfdata_notes_init(struct reader_notes *notes)
{
	*notes = (struct reader_notes){ 0 };
	buffer_init(&notes->bytes, NOTE_MAX_BYTES);
}

void perfdata_notes_deinit(struct reader_notes *notes)
{
	buffer_deinit(&notes->bytes);
}

struct perfdata_news perfdata_reader_news(const struct perfdata_reader *reader)
{
	return reader->news;
}

bool perfdata_reader_truncated(const struct perfdata_reader *reader)
{
	return reader->truncated;
}

uint64_t perfdata_reader_rest_bytes(const struct perfdata_reader *reader)
{
	return reader->header_truncated ? 0 : reader->rest_bytes;
}

bool perfdata_reader_cut_off(const struct perfdata_reader *reader, uint64_t *ret_begin_ns,
			     uint64_t *ret_end_ns)
{
	if (!perfdata_notes_missing(reader))
		return false;
	*ret_begin_ns = reader->notes.first_ns;
	*ret_end_ns = reader->notes.last_ns;
	return true;
}
