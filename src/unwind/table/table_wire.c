/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table as bytes: the number of distinct rows, and the rows as they are in memory; the
 * trampolines; flags: whether other code keeps frame pointers, and whether its code is 32-bit; then
 * each piece of code, in ascending order, with its addresses and row numbers.
 */
#include <string.h>

#include "base/cursor.h"
#include "unwind/table/table_private.h"

#define FLAG_FRAME_POINTERS 1
#define FLAG_BITS32 2

void unwind_table_encode(const struct unwind_table *table, struct buffer *out)
{
	buffer_append_u32(out, table->rows.count);
	buffer_append(out, table->rows.items, table->rows.count * sizeof(*table->rows.items));
	buffer_append_u32(out, table->trampoline_count);
	for (size_t i = 0; i < table->trampoline_count; i++)
		buffer_append_u64(out, table->trampolines[i]);
	buffer_append_u32(out, (table->frame_pointers ? FLAG_FRAME_POINTERS : 0) |
				       (table->bits32 ? FLAG_BITS32 : 0));
	buffer_append_u32(out, table->pieces.count);
	for (size_t i = 0; i < table->pieces.count; i++) {
		const struct piece *piece = &table->pieces.items[i];

		buffer_append_u64(out, piece->start);
		buffer_append_u32(out, piece->bytes);
		buffer_append_u32(out, piece->count);
		buffer_append(out, piece->ips, piece->count * sizeof(*piece->ips));
		buffer_append(out, piece->rows, piece->count * sizeof(*piece->rows));
	}
}

static bool is_row(const struct unwind_row *row)
{
	return row->sp_base < UNWIND_BASES && row->bp_base <= UNWIND_BASE_OTHER &&
	       row->type < UNWIND_ROW_TYPES;
}

struct rows {
	struct unwind_row *items;
	uint32_t count;
};

static bool decode_rows(struct cursor *cursor, struct rows *ret)
{
	uint32_t count = cursor_u32(cursor);
	const void *data;

	if (count > MAX_DIFFERENT_ROWS)
		return false;
	data = cursor_bytes(cursor, count * sizeof(*ret->items));
	if (!data)
		return false;
	ret->items = memory_calloc(count + 1, sizeof(*ret->items));
	ret->count = count;
	memcpy(ret->items, data, count * sizeof(*ret->items));
	for (uint32_t i = 0; i < count; i++)
		if (!is_row(&ret->items[i]))
			return false;
	return true;
}

static bool decode_trampolines(struct cursor *cursor, struct unwind_table *table)
{
	uint32_t count = cursor_u32(cursor);

	if (count > UNWIND_MAX_TRAMPOLINES)
		return false;
	for (uint32_t i = 0; i < count; i++)
		unwind_table_add_trampoline(table, GVA(cursor_u64(cursor)));
	return !cursor->failed;
}

/* Looks up each row by its number; false: there is no such row, or the addresses do not ascend. */
static bool expand(const struct rows *rows, const uint8_t *numbers, const uint32_t *ips,
		   uint32_t bytes, size_t count, struct unwind_row *ret)
{
	for (size_t i = 0; i < count; i++) {
		uint16_t number;

		memcpy(&number, numbers + i * sizeof(number), sizeof(number));
		if (number >= rows->count || ips[i] >= bytes || (i && ips[i] <= ips[i - 1]))
			return false;
		ret[i] = rows->items[number];
	}
	return true;
}

static bool is_last(const struct unwind_table *table, uint64_t start)
{
	size_t count = table->pieces.count;

	return !count || table->pieces.items[count - 1].start < start;
}

static bool decode_piece(struct cursor *cursor, const struct rows *rows, struct unwind_table *table)
{
	struct unwind_rows piece = { .start = GVA(cursor_u64(cursor)) };
	_cleanup_free_ struct unwind_row *expanded = NULL;
	_cleanup_free_ uint32_t *ips = NULL;
	uint32_t bytes = cursor_u32(cursor);
	const void *ip_bytes, *numbers;

	piece.count = cursor_u32(cursor);
	piece.end = GVA(piece.start.value + bytes);
	ip_bytes = cursor_bytes(cursor, piece.count * sizeof(*ips));
	numbers = cursor_bytes(cursor, piece.count * sizeof(uint16_t));
	if (!ip_bytes || !numbers || !piece.count || !is_last(table, piece.start.value))
		return false;
	ips = memory_calloc(piece.count, sizeof(*ips));
	expanded = memory_calloc(piece.count, sizeof(*expanded));
	memcpy(ips, ip_bytes, piece.count * sizeof(*ips));
	if (!expand(rows, numbers, ips, bytes, piece.count, expanded))
		return false;
	piece.ips = ips;
	piece.rows = expanded;
	return unwind_table_add_rows(table, &piece);
}

static bool decode(struct cursor *cursor, struct rows *rows, struct unwind_table *table)
{
	uint32_t count, flags;

	if (!decode_rows(cursor, rows) || !decode_trampolines(cursor, table))
		return false;
	flags = cursor_u32(cursor);
	if (flags & FLAG_FRAME_POINTERS)
		unwind_table_expect_frame_pointers(table);
	if (flags & FLAG_BITS32)
		unwind_table_set_bits32(table);
	count = cursor_u32(cursor);
	for (uint32_t i = 0; i < count && !cursor->failed; i++)
		if (!decode_piece(cursor, rows, table))
			return false;
	return !cursor->failed && !cursor_left(cursor);
}

struct error *unwind_table_decode(const void *data, size_t size, struct unwind_table **ret)
{
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	struct cursor cursor = cursor_make(data, size, false);
	struct rows rows = { 0 };
	bool good = decode(&cursor, &rows, table);

	free(rows.items);
	if (!good)
		return error_create(ERROR_BAD_DATA, "malformed table of unwind data");
	/* What finds equal rows is not needed any more, and takes more than they do. */
	map_deinit(&table->numbers);
	map_init(&table->numbers);
	*ret = take_pointer(table);
	return NULL;
}
