/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file's call frame information: from the whole file, and with a page missing (the first
 * byte).
 */
#include <string.h>

#include "fuzz.h"
#include "unwind/program/program_table.h"

#define PAGE 4096

struct file {
	const uint8_t *data;
	uint64_t hole;
};

static bool read_file(void *context, uint64_t offset, void *data, size_t size)
{
	const struct file *file = context;

	if (offset < file->hole + PAGE && offset + size > file->hole)
		return false;
	memcpy(data, file->data + offset, size);
	return true;
}

static void read_table(struct file *file, size_t size)
{
	struct guest_elf_source source = { read_file, file, size };
	_cleanup_unwind_table_ struct unwind_table *table = NULL;

	error_destroy(unwind_table_read_file(&source, &table));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct file file;

	if (!size)
		return 0;
	file = (struct file){ data + 1, UINT64_MAX - PAGE };
	read_table(&file, size - 1);
	file.hole = (uint64_t)data[0] * (PAGE / 16);
	read_table(&file, size - 1);
	return 0;
}
