/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/kallsyms, up to the first 0 byte, followed by that of /proc/modules. The
 * resulting table must satisfy its contract, and survive its byte form.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "symbol/kallsyms.h"

static void check_table(const struct symbol_table *table)
{
	for (size_t i = 0; i < symbol_table_count(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);

		assert(symbol->start < symbol->end);
		assert(!i || symbol[-1].start < symbol->start);
		assert(symbol_table_find(table, symbol->start) == symbol);
		assert(strlen(symbol_name(table, symbol)) < KALLSYMS_MAX_NAME_BYTES);
		(void)symbol_module(table, symbol);
		(void)symbol_table_find_module(table, symbol->end);
	}
}

static void check_byte_form(const struct symbol_table *table)
{
	_cleanup_symbol_table_ struct symbol_table *again = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct error *error;

	buffer_init(&bytes, 1 << 28);
	symbol_table_encode(table, &bytes);
	error = symbol_table_decode(bytes.data, bytes.size, &again);
	assert(!error && symbol_table_count(again) == symbol_table_count(table));
	check_table(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	const char *text = (const char *)data;
	struct kallsyms_counts counts = { 0 };
	size_t kallsyms_bytes = size ? strnlen(text, size) : 0;
	size_t modules_at = kallsyms_bytes < size ? kallsyms_bytes + 1 : size;

	error_destroy(kallsyms_parse(text, kallsyms_bytes, "fuzz", builder, &counts));
	error_destroy(kallsyms_parse_modules(text + modules_at, size - modules_at, "fuzz", builder,
					     NULL));
	table = symbol_builder_finish(take_pointer(builder));
	assert(symbol_table_count(table) <= counts.symbols);
	check_table(table);
	check_byte_form(table);
	return 0;
}
