/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packed form of a symbol table, for recordings (docs/perfvisor-sections.md has the layout).
 * What is alike stands together: all names, all distances from one symbol to the next, all gaps
 * behind them. A compressor finds little else to do, and two guests with the same kernel, each
 * somewhere else in memory, differ in a few bytes: where a module begins.
 *
 * Numbers are LEB128: seven bits in a byte, the lowest first, the highest bit says that more
 * follow. Signed ones are folded: 0, -1, 1, -2 … are 0, 1, 2, 3 …
 *
 * Unpacking gives the arrays of table_code.c, which checks them as it checks any other table.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "symbol/table.h"
#include "symbol/table_private.h"

#define NUMBER_MAX_BYTES 10

static void put_number(struct buffer *out, uint64_t value)
{
	for (; value >> 7; value >>= 7)
		buffer_append_u8(out, value | 0x80);
	buffer_append_u8(out, value);
}

static void put_signed(struct buffer *out, uint64_t value)
{
	put_number(out, value << 1 ^ -(value >> 63));
}

static uint64_t take_number(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < NUMBER_MAX_BYTES; i++) {
		uint8_t byte = cursor_u8(cursor);

		value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = true;
	return 0;
}

static uint64_t take_signed(struct cursor *cursor)
{
	uint64_t value = take_number(cursor);

	return value >> 1 ^ -(value & 1);
}

static void put_name(struct buffer *out, const char *name)
{
	buffer_append(out, name, strlen(name) + 1);
}

static void pack_symbols(const struct symbol_table *table, struct buffer *out)
{
	const struct symbol *symbols = table->symbols;
	size_t count = table->symbol_count;
	uint64_t last = 0;

	for (size_t i = 0; i < count; i++) {
		put_number(out, symbols[i].start - last);
		last = symbols[i].start;
	}
	for (size_t i = 0; i < count; i++)
		put_signed(out, symbols[i].end - symbols[i + 1 < count ? i + 1 : i].start);
	for (size_t i = 0; i < count; i++)
		put_number(out, symbols[i].outer ? i + 1 - symbols[i].outer : 0);
	for (size_t i = 0; i < count; i++)
		buffer_append_u8(out, symbols[i].type);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && symbols[next].module == symbols[i].module; next++)
			;
		put_number(out, symbols[i].module);
		put_number(out, next - i);
	}
}

void symbol_table_pack(const struct symbol_table *table, struct buffer *out)
{
	buffer_append_u64(out, TABLE_PACKED_MAGIC);
	buffer_append_u64(out, table->symbol_count);
	buffer_append_u64(out, table->module_count);
	for (size_t i = 0; i < table->symbol_count; i++)
		put_name(out, symbol_name(table, &table->symbols[i]));
	for (size_t i = 0; i < table->module_count; i++)
		put_name(out, table->text + table->modules[i].name);
	pack_symbols(table, out);
	for (size_t i = 0; i < table->module_count; i++) {
		put_number(out, table->modules[i].start);
		put_number(out, table->modules[i].end - table->modules[i].start);
	}
}

/* The arrays that a packed table becomes. */
struct unpacked {
	struct symbol *symbols;
	struct symbol_module_range *modules;
	size_t symbol_count, module_count;
};

/* Gives each symbol and module its name; where the names end the rest begins. */
static bool take_names(struct cursor *cursor, const struct unpacked *table)
{
	size_t begin = cursor->offset;

	for (size_t i = 0; i < table->symbol_count + table->module_count; i++) {
		const uint8_t *name = cursor->data + cursor->offset;
		const uint8_t *end = memchr(name, 0, cursor_left(cursor));

		if (!end || cursor->offset - begin >= TABLE_MAX_TEXT_BYTES)
			return false;
		if (i < table->symbol_count)
			table->symbols[i].name = cursor->offset - begin;
		else
			table->modules[i - table->symbol_count].name = cursor->offset - begin;
		cursor_skip(cursor, end + 1 - name);
	}
	return true;
}

static bool take_symbols(struct cursor *cursor, const struct unpacked *table)
{
	struct symbol *symbols = table->symbols;
	size_t count = table->symbol_count;
	uint64_t last = 0;

	for (size_t i = 0; i < count; i++)
		last = symbols[i].start = last + take_number(cursor);
	for (size_t i = 0; i < count; i++)
		symbols[i].end = symbols[i + 1 < count ? i + 1 : i].start + take_signed(cursor);
	for (size_t i = 0; i < count; i++) {
		uint64_t back = take_number(cursor);

		if (back > i)
			return false;
		symbols[i].outer = back ? i + 1 - back : 0;
	}
	for (size_t i = 0; i < count; i++)
		symbols[i].type = cursor_u8(cursor);
	for (size_t i = 0; i < count && !cursor->failed;) {
		uint64_t module = take_number(cursor), run = take_number(cursor);

		if (module > UINT32_MAX || !run || run > count - i)
			return false;
		for (; run; run--)
			symbols[i++].module = module;
	}
	return !cursor->failed;
}

static bool take_modules(struct cursor *cursor, const struct unpacked *table)
{
	for (size_t i = 0; i < table->module_count; i++) {
		table->modules[i].start = take_number(cursor);
		table->modules[i].end = table->modules[i].start + take_number(cursor);
	}
	return !cursor->failed;
}

bool table_unpack(struct cursor *cursor, struct table_arrays *ret)
{
	uint64_t symbol_count = cursor_u64(cursor), module_count = cursor_u64(cursor);
	struct unpacked table;
	size_t text, bytes;
	char *memory;

	/* Each symbol and module has a name, of a byte at least. */
	if (cursor->failed || symbol_count > TABLE_MAX_SYMBOLS ||
	    module_count > TABLE_MAX_MODULES || symbol_count + module_count > cursor_left(cursor))
		return false;
	bytes = symbol_count * sizeof(*table.symbols) + module_count * sizeof(*table.modules);
	table.symbol_count = symbol_count;
	table.module_count = module_count;
	table.symbols = memory_calloc(1, bytes + 1);
	table.modules = (struct symbol_module_range *)(table.symbols + symbol_count);
	text = cursor->offset;
	*ret = (struct table_arrays){ .symbols = table.symbols,
				      .symbol_count = symbol_count,
				      .modules = table.modules,
				      .module_count = module_count };
	if (!take_names(cursor, &table)) {
		free(table.symbols);
		return false;
	}
	ret->text_bytes = cursor->offset - text;
	if (!take_symbols(cursor, &table) || !take_modules(cursor, &table)) {
		free(table.symbols);
		return false;
	}
	memory = memory_resize(table.symbols, bytes + ret->text_bytes + 1, 1);
	memcpy(memory + bytes, cursor->data + text, ret->text_bytes);
	ret->owned = memory;
	ret->symbols = (struct symbol *)memory;
	ret->modules = (struct symbol_module_range *)(ret->symbols + symbol_count);
	ret->text = memory + bytes;
	return true;
}
