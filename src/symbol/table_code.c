/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The byte form of a symbol table that can be searched in place: its arrays as they are in memory
 * (docs/perfvisor-sections.md describes the layout).
 *
 * 	u64 magic "PVSYMTB1" as a number, u64 symbols, u64 modules, u64 text bytes
 * 	struct symbol[symbols], struct symbol_module_range[modules], char[text bytes]
 *
 * All integers are in the byte order of the machine that wrote it. A reader with the other byte
 * order sees that from the magic, and swaps into a copy. It also copies if the data is not aligned
 * to 8 bytes. Bytes after the text are ignored: sections may be padded.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "symbol/table.h"
#include "symbol/table_private.h"

#define TABLE_MAGIC 0x505653594d544231ULL

#define NAMES_MAX_RATIO 8 /* all names, relative to the text that they share; a kernel's is 2 */

struct table_header {
	uint64_t magic;
	uint64_t symbols;
	uint64_t modules;
	uint64_t text_bytes;
};

_Static_assert(sizeof(struct symbol) == 32, "the byte form has no gaps");
_Static_assert(sizeof(struct symbol_module_range) == 24, "the byte form has no gaps");

void symbol_table_encode(const struct symbol_table *table, struct buffer *out)
{
	buffer_append_u64(out, TABLE_MAGIC);
	buffer_append_u64(out, table->symbol_count);
	buffer_append_u64(out, table->module_count);
	buffer_append_u64(out, table->text_bytes);
	buffer_append(out, table->symbols, table->symbol_count * sizeof(*table->symbols));
	buffer_append(out, table->modules, table->module_count * sizeof(*table->modules));
	buffer_append(out, table->text, table->text_bytes);
}

static struct error *bad_table(const char *what)
{
	return error_create(ERROR_BAD_DATA, "a stored symbol table is damaged: %s", what);
}

static struct error *read_header(struct cursor *cursor, struct table_header *ret)
{
	struct table_header header = { .magic = cursor_u64(cursor) };
	uint64_t bytes;

	if (header.magic == __builtin_bswap64(TABLE_MAGIC)) {
		cursor->swap = true;
		header.magic = TABLE_MAGIC;
	}
	header.symbols = cursor_u64(cursor);
	header.modules = cursor_u64(cursor);
	header.text_bytes = cursor_u64(cursor);
	if (cursor->failed || header.magic != TABLE_MAGIC)
		return bad_table("it has the wrong magic number");
	if (header.symbols > TABLE_MAX_SYMBOLS || header.modules > TABLE_MAX_MODULES ||
	    header.text_bytes > TABLE_MAX_TEXT_BYTES)
		return bad_table("its counts exceed the limits");
	bytes = header.symbols * sizeof(struct symbol) +
		header.modules * sizeof(struct symbol_module_range) + header.text_bytes;
	if (bytes > cursor_left(cursor))
		return bad_table("it is truncated");
	*ret = header;
	return NULL;
}

/*
 * 1 for a control character other than the terminator. Uses bytes so that gcc processes 16 at once.
 */
static inline uint8_t is_control(uint8_t byte)
{
	return ((uint8_t)(byte - 1) < ' ' - 1) | (byte == 0x7f);
}

#define TEXT_STEP 64

static bool has_control(const char *text, size_t bytes)
{
	uint8_t found = 0;
	size_t at = 0;

	for (; bytes - at >= TEXT_STEP; at += TEXT_STEP)
		for (size_t i = 0; i < TEXT_STEP; i++)
			found |= is_control(text[at + i]);
	for (; at < bytes; at++)
		found |= is_control(text[at]);
	return found;
}

static struct error *check_text(const char *text, size_t bytes)
{
	if (bytes && text[bytes - 1])
		return bad_table("its last name is not terminated");
	return has_control(text, bytes) ? bad_table("a name has control characters") : NULL;
}

static struct error *check_symbols(const struct symbol *symbols, const struct table_header *header)
{
	for (size_t i = 0; i < header->symbols; i++) {
		const struct symbol *symbol = &symbols[i];

		if (symbol->start >= symbol->end)
			return bad_table("a symbol ends before it starts");
		if (i && symbol->start <= symbols[i - 1].start)
			return bad_table("its symbols are not in order");
		if (symbol->name >= header->text_bytes || symbol->module > header->modules)
			return bad_table("a symbol's name or module is out of range");
		/* Only refers backwards, so following it ends. */
		if (symbol->outer > i)
			return bad_table("a symbol is nested in a later one");
		if (symbol->type < ' ' || symbol->type > '~')
			return bad_table("a symbol's type is not a letter");
	}
	return NULL;
}

/* What all names take where each stands alone: they may share bytes, but not without limit. */
static struct error *check_names(const struct table_arrays *arrays)
{
	uint64_t most = NAMES_MAX_RATIO * (uint64_t)arrays->text_bytes, bytes = 0;

	for (size_t i = 0; i < arrays->symbol_count && bytes <= most; i++)
		bytes += strlen(arrays->text + arrays->symbols[i].name);
	for (size_t i = 0; i < arrays->module_count && bytes <= most; i++)
		bytes += strlen(arrays->text + arrays->modules[i].name);
	return bytes > most ? bad_table("its names share too many bytes") : NULL;
}

static struct error *check_modules(const struct symbol_module_range *modules,
				   const struct table_header *header)
{
	for (size_t i = 0; i < header->modules; i++) {
		if (modules[i].start > modules[i].end)
			return bad_table("a module ends before it starts");
		if (modules[i].name >= header->text_bytes)
			return bad_table("a module's name is out of range");
	}
	return NULL;
}

static void swap_arrays(struct symbol *symbols, struct symbol_module_range *modules,
			const struct table_header *header)
{
	for (size_t i = 0; i < header->symbols; i++) {
		symbols[i].start = __builtin_bswap64(symbols[i].start);
		symbols[i].end = __builtin_bswap64(symbols[i].end);
		symbols[i].name = __builtin_bswap32(symbols[i].name);
		symbols[i].module = __builtin_bswap32(symbols[i].module);
		symbols[i].outer = __builtin_bswap32(symbols[i].outer);
	}
	for (size_t i = 0; i < header->modules; i++) {
		modules[i].start = __builtin_bswap64(modules[i].start);
		modules[i].end = __builtin_bswap64(modules[i].end);
		modules[i].name = __builtin_bswap32(modules[i].name);
	}
}

static struct error *check_arrays(const struct table_arrays *arrays)
{
	struct table_header header = { .symbols = arrays->symbol_count,
				       .modules = arrays->module_count,
				       .text_bytes = arrays->text_bytes };
	struct error *error = check_text(arrays->text, arrays->text_bytes);

	if (!error)
		error = check_symbols(arrays->symbols, &header);
	if (!error)
		error = check_modules(arrays->modules, &header);
	return error ? error : check_names(arrays);
}

/* Finds the arrays where they lie, or copies them. */
static struct error *find_arrays(struct cursor *cursor, struct table_arrays *ret)
{
	const struct symbol_module_range *modules;
	const struct symbol *symbols;
	struct table_header header = { 0 };
	void *copy = NULL;
	struct error *error = read_header(cursor, &header);

	if (error)
		return error;
	symbols = (const void *)(cursor->data + cursor->offset);
	if (cursor->swap || (uintptr_t)symbols % _Alignof(struct symbol)) {
		copy = memory_dup(symbols, cursor_left(cursor));
		symbols = copy;
	}
	modules = (const void *)(symbols + header.symbols);
	if (cursor->swap)
		swap_arrays(copy, (struct symbol_module_range *)modules, &header);
	*ret = (struct table_arrays){ .symbols = symbols,
				      .symbol_count = header.symbols,
				      .modules = modules,
				      .module_count = header.modules,
				      .text = (const char *)(modules + header.modules),
				      .text_bytes = header.text_bytes,
				      .owned = copy };
	return NULL;
}

/* Moves CURSOR behind the magic of a packed table, and sets its byte order; false: it is none. */
static bool pass_packed_magic(struct cursor *cursor)
{
	struct cursor ahead = *cursor;
	uint64_t magic = cursor_u64(&ahead);

	ahead.swap = magic == __builtin_bswap64(TABLE_PACKED_MAGIC);
	if (magic != TABLE_PACKED_MAGIC && !ahead.swap)
		return false;
	*cursor = ahead;
	return true;
}

struct error *symbol_table_decode(const void *data, size_t size, struct symbol_table **ret)
{
	struct cursor cursor = cursor_make(data, size, false);
	struct table_arrays arrays = { 0 };
	struct error *error = NULL;

	if (!pass_packed_magic(&cursor))
		error = find_arrays(&cursor, &arrays);
	else if (!table_unpack(&cursor, &arrays))
		error = bad_table("what is packed in it is malformed");
	if (!error)
		error = check_arrays(&arrays);
	if (error) {
		free(arrays.owned);
		return error;
	}
	*ret = symbol_table_create(arrays.symbols, arrays.symbol_count, arrays.modules,
				   arrays.module_count, arrays.text, arrays.text_bytes,
				   arrays.owned);
	return NULL;
}

bool symbol_table_is_packed(const void *data, size_t size)
{
	struct cursor cursor = cursor_make(data, size, false);

	return pass_packed_magic(&cursor);
}

bool symbol_table_is_whole(const struct symbol_table *table)
{
	return table->owned;
}
