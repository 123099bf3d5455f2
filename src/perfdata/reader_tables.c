/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbol tables of a recording: of its section, as they stand there, and of notes, where they
 * are compressed. Those are decompressed when they are asked for.
 *
 * A few bytes may become a lot: what all tables become is limited to so many times the size of the
 * file. Another table that one is like is never such a table itself: there is no chain to follow.
 */
#include <string.h>

#include "base/cursor.h"
#include "perfdata/reader_state.h"
#include "perfdata/section.h"

#define MAX_SYMBOL_TABLES 65536
#define MAX_FACTOR 1000
#define ANY_FACTOR_BYTES ((uint64_t)64 << 20) /* may be any number of times of what they are */

static bool take_head(struct perfdata_reader *reader, struct cursor *cursor,
		      struct perfdata_symbols *ret)
{
	struct cursor part = section_part(cursor);
	_cleanup_free_ char *path = NULL;
	uint32_t build_id_bytes;
	const void *build_id;

	ret->machine_pid = cursor_u32(&part);
	ret->kind = cursor_u32(&part);
	ret->from_ns = cursor_u64(&part);
	ret->until_ns = cursor_u64(&part);
	if (!ret->until_ns)
		ret->until_ns = UINT64_MAX;
	path = section_string(&part);
	ret->path = arena_strndup(reader->arena, path, strlen(path));
	build_id_bytes = cursor_u32(&part);
	build_id = cursor_bytes(&part, build_id_bytes);
	if (part.failed || build_id_bytes > PERFDATA_BUILD_ID_BYTES)
		return false;
	ret->build_id = memcpy(arena_alloc(reader->arena, PERFDATA_BUILD_ID_BYTES), build_id,
			       build_id_bytes);
	ret->build_id_bytes = build_id_bytes;
	return true;
}

/* An entry of the section: its head, zero bytes up to a multiple of 8, the table as it is. */
static bool take_entry(struct perfdata_reader *reader, struct cursor *cursor)
{
	struct reader_table table = { .coding = TABLE_PLAIN };

	if (!take_head(reader, cursor, &table.head))
		return false;
	cursor_skip(cursor, -cursor->offset % SECTION_ALIGNMENT);
	table.size = table.stored_bytes = cursor_u64(cursor);
	table.stored = cursor_bytes(cursor, table.size);
	if (cursor->failed)
		return false;
	if (table.head.kind <= PERFDATA_CODE_FILE)
		vector_append(&reader->tables, table);
	return true;
}

void perfdata_tables_take_section(struct perfdata_reader *reader, struct cursor *cursor)
{
	while (cursor_left(cursor) && reader->tables.count < MAX_SYMBOL_TABLES) {
		if (!take_entry(reader, cursor) ||
		    cursor_left(cursor) < -cursor->offset % SECTION_ALIGNMENT)
			return;
		cursor_skip(cursor, -cursor->offset % SECTION_ALIGNMENT);
	}
}

/* The index of the table of that number; false: there is none that others may refer to. */
static bool find_base(const struct perfdata_reader *reader, uint32_t number, size_t *ret)
{
	const uint64_t *place = map_find(&reader->table_of_number, number);

	if (!place || reader->tables.items[*place].coding > TABLE_ZSTD)
		return false;
	*ret = *place;
	return true;
}

void perfdata_tables_take(struct perfdata_reader *reader, struct cursor *cursor)
{
	uint32_t number = cursor_u32(cursor), base;
	struct reader_table table = { 0 };
	bool added;
	uint64_t *place;

	if (reader->tables.count >= MAX_SYMBOL_TABLES || !take_head(reader, cursor, &table.head))
		return;
	table.size = cursor_u64(cursor);
	base = cursor_u32(cursor);
	table.coding = cursor_u32(cursor);
	table.stored_bytes = cursor_left(cursor);
	if (cursor->failed || table.size > TABLE_MAX_BYTES || table.coding > TABLE_SAME ||
	    table.head.kind > PERFDATA_CODE_FILE)
		return;
	if (table.coding >= TABLE_ZSTD_LIKE && !find_base(reader, base, &table.base))
		return;
	place = map_insert(&reader->table_of_number, number, &added);
	if (!added)
		return;
	*place = reader->tables.count;
	table.stored = arena_alloc(reader->arena, table.stored_bytes + 1);
	memcpy((void *)table.stored, cursor->data + cursor->offset, table.stored_bytes);
	if (table.coding >= TABLE_ZSTD_LIKE)
		reader->tables.items[table.base].has_others = true;
	vector_append(&reader->tables, table);
}

void perfdata_tables_take_end(struct perfdata_reader *reader, struct cursor *cursor)
{
	uint32_t number = cursor_u32(cursor);
	uint64_t until_ns = cursor_u64(cursor);
	const uint64_t *place = map_find(&reader->table_of_number, number);

	if (place && !cursor->failed)
		reader->tables.items[*place].head.until_ns = until_ns ? until_ns : UINT64_MAX;
}

size_t perfdata_reader_symbols_count(const struct perfdata_reader *reader)
{
	return reader->tables.count;
}

struct perfdata_symbols perfdata_reader_symbols(const struct perfdata_reader *reader, size_t index)
{
	return reader->tables.items[index].head;
}

bool perfdata_reader_symbols_common(const struct perfdata_reader *reader, size_t index, size_t *ret)
{
	const struct reader_table *table = &reader->tables.items[index];

	*ret = table->coding == TABLE_SAME ? table->base : index;
	return table->coding == TABLE_SAME || table->has_others;
}

static uint64_t file_bytes(const struct perfdata_reader *reader)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < reader->files.count; i++)
		bytes += reader->files.items[i].size;
	return bytes;
}

static struct error *decompress(struct perfdata_reader *reader, struct reader_table *table,
				const struct reader_table *base)
{
	struct error *error;
	void *bytes;

	if (table->size > ANY_FACTOR_BYTES + MAX_FACTOR * file_bytes(reader) - reader->table_bytes)
		return error_create(ERROR_BAD_DATA,
				    "the symbol tables become more than %d times larger",
				    MAX_FACTOR);
	bytes = memory_alloc(table->size + 1);
	error = table_decompress(table->stored, table->stored_bytes, base ? base->data : NULL,
				 base ? base->size : 0, bytes, table->size);
	if (error) {
		free(bytes);
		return error;
	}
	reader->table_bytes += table->size;
	table->data = table->owned = bytes;
	return NULL;
}

static struct error *load(struct perfdata_reader *reader, struct reader_table *table)
{
	struct reader_table *base = NULL;
	struct error *error = NULL;

	if (table->data)
		return NULL;
	if (table->coding >= TABLE_ZSTD_LIKE) {
		base = &reader->tables.items[table->base];
		error = load(reader, base);
	}
	if (error)
		return error;
	if (table->coding == TABLE_ZSTD || table->coding == TABLE_ZSTD_LIKE)
		return decompress(reader, table, base);
	if (table->coding == TABLE_PLAIN && table->stored_bytes < table->size)
		return error_create(ERROR_BAD_DATA, "a recorded symbol table is too short");
	table->data = base ? base->data : table->stored;
	table->size = base ? base->size : table->size;
	return NULL;
}

struct error *perfdata_reader_load_symbols(struct perfdata_reader *reader, size_t index,
					   const void **ret_data, size_t *ret_size)
{
	struct reader_table *table = &reader->tables.items[index];
	struct error *error = load(reader, table);

	if (error)
		return error;
	*ret_data = table->data;
	*ret_size = table->size;
	return NULL;
}

void perfdata_reader_drop_symbols(struct perfdata_reader *reader, size_t index)
{
	struct reader_table *table = &reader->tables.items[index];

	if (!table->owned || table->has_others)
		return;
	reader->table_bytes -= table->size;
	free(table->owned);
	table->owned = NULL;
	table->data = NULL;
}

void perfdata_tables_deinit(struct perfdata_reader *reader)
{
	for (size_t i = 0; i < reader->tables.count; i++)
		free(reader->tables.items[i].owned);
	vector_deinit(&reader->tables);
	map_deinit(&reader->table_of_number);
}
