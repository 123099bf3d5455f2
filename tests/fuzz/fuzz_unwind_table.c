/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The byte form of a table of unwind data: valid input can be searched, and survives a round trip.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "unwind/table/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL, *again = NULL;
	_cleanup_buffer_ struct buffer bytes, same;
	struct error *error = unwind_table_decode(data, size, &table);

	buffer_init(&bytes, 1 << 28);
	buffer_init(&same, 1 << 28);
	if (error) {
		error_destroy(error);
		return 0;
	}
	for (size_t i = 0; i + sizeof(uint64_t) <= size; i++) {
		uint64_t ip;

		memcpy(&ip, data + i, sizeof(ip));
		(void)unwind_table_find(table, ip);
		(void)unwind_table_is_trampoline(table, ip);
	}
	unwind_table_encode(table, &bytes);
	error = unwind_table_decode(bytes.data, bytes.size, &again);
	assert(!error);
	unwind_table_encode(again, &same);
	assert(bytes.size == same.size && !memcmp(bytes.data, same.data, same.size));
	return 0;
}
