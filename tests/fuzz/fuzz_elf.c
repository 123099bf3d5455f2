/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF images: everything that src/symbol reads from one, with demangled names. */
#include <assert.h>

#include "fuzz.h"
#include "symbol/dso.h"
#include "symbol/elf_file.h"

#define MAX_DEMANGLED 64

static void use_table(struct symbol_builder *builder)
{
	_cleanup_symbol_table_ struct symbol_table *table = symbol_builder_finish(builder);

	for (size_t i = 0; i < symbol_table_count(table) && i < MAX_DEMANGLED; i++) {
		const struct symbol *symbol = symbol_table_at(table, i);
		_cleanup_free_ char *name = dso_demangle(symbol_name(table, symbol));

		assert(name && symbol->start < symbol->end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_symbol_builder_ struct symbol_builder *program = symbol_builder_create();
	_cleanup_symbol_builder_ struct symbol_builder *kernel = symbol_builder_create();
	_cleanup_elf_file_ struct elf_file *file = NULL;
	struct error *error = elf_file_open_memory(data, size, "fuzz", &file);
	uint64_t address;

	if (error) {
		error_destroy(error);
		return 0;
	}
	error_destroy(elf_file_add_offsets(file, file, program));
	error_destroy(elf_file_add_plt(file, program));
	error_destroy(elf_file_add_kernel(file, 0, kernel));
	error_destroy(elf_file_find_symbol(file, "_text", &address));
	assert(elf_file_build_id(file)->bytes <= BUILD_ID_MAX_BYTES);
	use_table(take_pointer(program));
	use_table(take_pointer(kernel));
	return 0;
}
