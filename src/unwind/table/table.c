/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel has some 400,000 rows, but only a few hundred distinct ones. So each piece of code has
 * an array of addresses (32 bits, from its start) and one of row numbers (16 bits); each distinct
 * row is stored once, so that all of them stay in the L1 cache. An index of 256-byte blocks, as in
 * the kernel (orc_lookup), leaves some five rows to search. Where rows are sparse, blocks are
 * larger: there are never more of them than rows, whatever span of code a file claims to have.
 */
#include "unwind/table/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "unwind/table/table_private.h"

#define MIN_BLOCK_BITS 8
#define PIECE_OVERHEAD_BYTES 48 /* what malloc() adds to its three arrays */
#define SPARE_BLOCKS 2 /* one for the rest of the code, and one for its end */

struct unwind_table *unwind_table_create(void)
{
	struct unwind_table *table = memory_calloc(1, sizeof(*table));

	map_init(&table->numbers);
	return table;
}

static void deinit_piece(struct piece *piece)
{
	free(piece->ips);
	free(piece->rows);
	free(piece->blocks);
}

void unwind_table_destroy(struct unwind_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->pieces.count; i++)
		deinit_piece(&table->pieces.items[i]);
	vector_deinit(&table->pieces);
	vector_deinit(&table->rows);
	map_deinit(&table->numbers);
	unwind_calls_destroy(table->calls);
	free(table);
}

/* False: more distinct rows than any kernel has. */
static bool find_number(struct unwind_table *table, const struct unwind_row *row, uint16_t *ret)
{
	uint64_t *number, key;
	bool added;

	_Static_assert(sizeof(*row) == sizeof(key), "a row is its own key");
	memcpy(&key, row, sizeof(key));
	number = map_insert(&table->numbers, key, &added);
	if (added) {
		*number = table->rows.count;
		if (*number < MAX_DIFFERENT_ROWS)
			vector_append(&table->rows, *row);
	}
	*ret = *number;
	return *number < MAX_DIFFERENT_ROWS;
}

static uint64_t ip_at(const struct unwind_source *source, size_t index)
{
	int32_t offset;

	memcpy(&offset, source->ips + index * ORC_IP_BYTES, sizeof(offset));
	return source->ips_at.value + index * ORC_IP_BYTES + (int64_t)offset;
}

/*
 * Of rows at the same address the last is right: those before it end a section (orc_sort_cmp()).
 * Rows that repeat the one before are left out.
 */
static void append_row(struct piece *piece, uint32_t ip, uint16_t number)
{
	if (piece->count && piece->ips[piece->count - 1] == ip)
		piece->count--;
	if (piece->count && piece->rows[piece->count - 1] == number)
		return;
	piece->ips[piece->count] = ip;
	piece->rows[piece->count++] = number;
}

static bool fill_rows(struct unwind_table *table, const struct unwind_source *source,
		      struct piece *piece)
{
	uint64_t last = 0;

	for (size_t i = 0; i < source->count; i++) {
		uint64_t ip = ip_at(source, i);
		struct unwind_row row;
		uint16_t number;

		if (ip < last ||
		    !orc_decode(source->form, source->entries + i * ORC_ENTRY_BYTES, &row) ||
		    !find_number(table, &row, &number))
			return false;
		last = ip;
		if (ip >= source->start.value && ip < source->end.value)
			append_row(piece, ip - source->start.value, number);
	}
	return piece->count;
}

static size_t count_blocks(const struct piece *piece)
{
	return (piece->bytes >> piece->block_bits) + SPARE_BLOCKS;
}

static void fill_blocks(struct piece *piece)
{
	size_t blocks, row = 0;

	piece->block_bits = MIN_BLOCK_BITS;
	while (piece->bytes >> piece->block_bits > piece->count)
		piece->block_bits++;
	blocks = count_blocks(piece);
	piece->blocks = memory_calloc(blocks, sizeof(*piece->blocks));
	for (size_t block = 0; block < blocks; block++) {
		while (row < piece->count &&
		       piece->ips[row] <= (uint64_t)block << piece->block_bits)
			row++;
		piece->blocks[block] = row;
	}
}

/* The position of a piece that starts at START. */
static size_t place_of(const struct unwind_table *table, uint64_t start)
{
	return SEARCH_COUNT(i, table->pieces.count, table->pieces.items[i].start <= start);
}

static bool is_free(const struct unwind_table *table, struct gva start, struct gva end)
{
	size_t place = place_of(table, start.value);
	const struct piece *before = place ? &table->pieces.items[place - 1] : NULL;

	if (before && start.value - before->start < before->bytes)
		return false;
	return place == table->pieces.count || end.value <= table->pieces.items[place].start;
}

static void insert_piece(struct unwind_table *table, const struct piece *piece)
{
	size_t place = place_of(table, piece->start);

	vector_append(&table->pieces, *piece);
	memmove(&table->pieces.items[place + 1], &table->pieces.items[place],
		(table->pieces.count - 1 - place) * sizeof(*piece));
	table->pieces.items[place] = *piece;
	table->row_count += piece->count;
}

/* Makes room for COUNT rows for the code between START and END; false: the table is full. */
static bool begin_piece(const struct unwind_table *table, struct gva start, struct gva end,
			size_t count, struct piece *ret)
{
	uint64_t bytes = end.value - start.value;

	if (end.value <= start.value || bytes > MAX_SPAN || count > MAX_ROWS - table->row_count ||
	    table->pieces.count == MAX_PIECES || !is_free(table, start, end))
		return false;
	*ret = (struct piece){ .start = start.value,
			       .bytes = bytes,
			       .ips = memory_calloc(count, sizeof(*ret->ips)),
			       .rows = memory_calloc(count, sizeof(*ret->rows)) };
	return true;
}

/* Takes PIECE's arrays; returns FILLED. */
static bool finish_piece(struct unwind_table *table, struct piece *piece, bool filled)
{
	if (!filled) {
		deinit_piece(piece);
		return false;
	}
	piece->ips = memory_resize(piece->ips, piece->count, sizeof(*piece->ips));
	piece->rows = memory_resize(piece->rows, piece->count, sizeof(*piece->rows));
	fill_blocks(piece);
	insert_piece(table, piece);
	return true;
}

bool unwind_table_add(struct unwind_table *table, const struct unwind_source *source)
{
	struct piece piece;

	return begin_piece(table, source->start, source->end, source->count, &piece) &&
	       finish_piece(table, &piece, fill_rows(table, source, &piece));
}

static bool take_rows(struct unwind_table *table, const struct unwind_rows *rows,
		      struct piece *piece)
{
	for (size_t i = 0; i < rows->count; i++) {
		uint16_t number;

		if (rows->ips[i] >= piece->bytes || (i && rows->ips[i] < rows->ips[i - 1]) ||
		    !find_number(table, &rows->rows[i], &number))
			return false;
		append_row(piece, rows->ips[i], number);
	}
	return piece->count;
}

bool unwind_table_add_rows(struct unwind_table *table, const struct unwind_rows *rows)
{
	struct piece piece;

	return begin_piece(table, rows->start, rows->end, rows->count, &piece) &&
	       finish_piece(table, &piece, take_rows(table, rows, &piece));
}

void unwind_table_add_trampoline(struct unwind_table *table, struct gva at)
{
	if (table->trampoline_count < UNWIND_MAX_TRAMPOLINES)
		table->trampolines[table->trampoline_count++] = at.value;
}

bool unwind_table_is_trampoline(const struct unwind_table *table, uint64_t address)
{
	for (size_t i = 0; i < table->trampoline_count; i++)
		if (table->trampolines[i] == address)
			return true;
	return false;
}

void unwind_table_expect_frame_pointers(struct unwind_table *table)
{
	table->frame_pointers = true;
}

bool unwind_table_expects_frame_pointers(const struct unwind_table *table)
{
	return table->frame_pointers;
}

void unwind_table_set_calls(struct unwind_table *table, struct unwind_calls *calls)
{
	unwind_calls_destroy(table->calls);
	table->calls = calls;
}

const struct unwind_calls *unwind_table_calls(const struct unwind_table *table)
{
	return table->calls;
}

void unwind_table_set_bits32(struct unwind_table *table)
{
	table->bits32 = true;
}

bool unwind_table_is_bits32(const struct unwind_table *table)
{
	return table->bits32;
}

static const struct unwind_row *find_in(const struct unwind_table *table, const struct piece *piece,
					uint32_t ip)
{
	/* The rows that start at or below IP: at least as many as at the block's start. */
	uint32_t block = ip >> piece->block_bits;
	size_t first = piece->blocks[block];
	size_t count = piece->blocks[block + 1] - first;
	size_t place = first + SEARCH_COUNT(i, count, piece->ips[first + i] <= ip);

	return place ? &table->rows.items[piece->rows[place - 1]] : NULL;
}

const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t ip)
{
	const struct piece *piece = table->pieces.items;
	size_t place;

	/* The kernel lies below its modules, and most frames are in it. */
	if (!piece)
		return NULL;
	if (ip - piece->start >= piece->bytes) {
		place = place_of(table, ip);
		if (!place)
			return NULL;
		piece = &table->pieces.items[place - 1];
		if (ip - piece->start >= piece->bytes)
			return NULL;
	}
	return find_in(table, piece, ip - piece->start);
}

size_t unwind_table_rows(const struct unwind_table *table)
{
	return table->row_count;
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	size_t bytes = sizeof(*table) + table->pieces.capacity * sizeof(*table->pieces.items) +
		       table->rows.capacity * sizeof(*table->rows.items) +
		       table->numbers.capacity * sizeof(*table->numbers.entries);

	for (size_t i = 0; i < table->pieces.count; i++) {
		const struct piece *piece = &table->pieces.items[i];

		bytes += piece->count * (sizeof(*piece->ips) + sizeof(*piece->rows)) +
			 count_blocks(piece) * sizeof(*piece->blocks) + PIECE_OVERHEAD_BYTES;
	}
	return bytes + (table->calls ? unwind_calls_bytes(table->calls) : 0);
}
