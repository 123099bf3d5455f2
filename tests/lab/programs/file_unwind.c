/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For check_guest_programs.py: the tables of unwind data of FILEs of this machine, as
 * guest_programs.c prints those of a guest's. That they are right is told by
 * tests/unit/unwind/test_dwarf_readelf.c.
 */
#include <string.h>

#include "base/files/file.h"
#include "table_hash.h"
#include "unwind/program/program_table.h"

static bool read_file(void *context, uint64_t offset, void *data, size_t size)
{
	const struct mapped_file *file = context;

	memcpy(data, file->data + offset, size);
	return true;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		_cleanup_unwind_table_ struct unwind_table *table = NULL;
		_cleanup_error_ struct error *error = NULL;
		struct guest_elf_source source;
		struct mapped_file file;

		error = file_map(argv[i], &file);
		if (!error) {
			source = (struct guest_elf_source){ read_file, &file, file.size };
			error = unwind_table_read_file(&source, &table);
			file_unmap(&file);
		}
		if (error)
			printf("~ - %s\n", error_message(error));
		else
			print_table_hash(table);
	}
	return 0;
}
