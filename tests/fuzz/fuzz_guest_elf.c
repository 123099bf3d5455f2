/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files with holes: the first 8 bytes are a mask of 64 parts of the file (HOLE_BYTES each,
 * repeating) that are not in memory; the rest is the file.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "guest/process/elf_copy.h"
#include "symbol/table.h"

#define HOLE_BYTES 256
#define MAX_READ_BYTES (16u << 20)

struct input {
	uint64_t holes;
	const uint8_t *data;
	size_t size;
	uint64_t read;
};

static bool read_input(void *context, uint64_t offset, void *data, size_t size)
{
	struct input *input = context;

	assert(offset <= input->size && size <= input->size - offset);
	input->read += size;
	for (uint64_t at = offset; at < offset + size; at++)
		if (input->holes >> (at / HOLE_BYTES % 64) & 1)
			return false;
	memcpy(data, input->data + offset, size);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	struct input input = { .data = data + sizeof(input.holes),
			       .size = size - sizeof(input.holes) };
	struct guest_elf_source source = { read_input, &input, input.size };
	struct error *error;

	if (size < sizeof(input.holes))
		return 0;
	memcpy(&input.holes, data, sizeof(input.holes));
	assert(guest_elf_build_id(&source).bytes <= GUEST_BUILD_ID_BYTES);
	input.read = 0;
	error = guest_elf_symbols(&source, &table);
	assert(input.read <= MAX_READ_BYTES);
	assert(!error == !!table);
	error_destroy(error);
	for (size_t i = 0; table && i < symbol_table_count(table); i++)
		assert(symbol_table_at(table, i)->start < symbol_table_at(table, i)->end);
	return 0;
}
