/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The byte forms of a symbol table: valid input can be searched, and encodes to itself. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "symbol/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL, *again = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct error *error = symbol_table_decode(data, size, &table);

	buffer_init(&bytes, 1 << 28);
	if (error) {
		error_destroy(error);
		return 0;
	}
	for (size_t i = 0; i < symbol_table_count(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);
		const struct symbol *found = symbol_table_find(table, symbol->end - 1);

		assert(symbol_table_find(table, symbol->start) == symbol);
		assert(!found || found->end >= symbol->end);
		assert(strlen(symbol_name(table, symbol)) < size);
		(void)symbol_module(table, symbol);
		(void)symbol_table_find_module(table, symbol->start);
	}
	symbol_table_encode(table, &bytes);
	error = symbol_table_decode(bytes.data, bytes.size, &again);
	assert(!error && symbol_table_count(again) == symbol_table_count(table));
	symbol_table_destroy(take_pointer(again));
	buffer_clear(&bytes);
	symbol_table_pack(table, &bytes);
	error = symbol_table_decode(bytes.data, bytes.size, &again);
	assert(!error && symbol_table_is_whole(again));
	assert(symbol_table_count(again) == symbol_table_count(table));
	return 0;
}
