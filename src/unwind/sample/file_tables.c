/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each section gets its own table: most files have .eh_frame for all of their code, and some have
 * .debug_frame for other code.
 */
#include "unwind/sample/file_tables.h"

#include <elf.h>

#include "unwind/table/dwarf_cfi.h"

_Static_assert(ELF_FRAMES_MAX_BYTES <= DWARF_MAX_SECTION_BYTES, "what is read can be used");

static struct unwind_table *make_table(const struct elf_frames *frames,
				       const struct elf_frames_section *from, bool debug_frame)
{
	struct dwarf_code code[ELF_FRAMES_MAX_CODE];
	struct cfi_section section = { .data = from->data,
				       .bytes = from->bytes,
				       .address = from->address,
				       .debug_frame = debug_frame,
				       .machine = frames->machine };
	struct unwind_table *table;

	if (!from->data)
		return NULL;
	for (size_t i = 0; i < frames->code_count; i++)
		code[i] = (struct dwarf_code){ frames->code[i].address, frames->code[i].bytes,
					       frames->code[i].offset };
	table = unwind_table_create();
	if (dwarf_add_section(table, &section, code, frames->code_count))
		return table;
	unwind_table_destroy(table);
	return NULL;
}

void file_tables_init(struct file_tables *tables, const struct elf_frames *frames)
{
	*tables = (struct file_tables){ .machine = frames->machine };
	if (frames->machine != EM_X86_64 && frames->machine != EM_386 &&
	    frames->machine != EM_AARCH64 && frames->machine != EM_PPC64)
		return;
	tables->eh_frame = make_table(frames, &frames->eh_frame, false);
	tables->debug_frame = make_table(frames, &frames->debug_frame, true);
}

void file_tables_deinit(struct file_tables *tables)
{
	unwind_table_destroy(tables->eh_frame);
	unwind_table_destroy(tables->debug_frame);
	*tables = (struct file_tables){ 0 };
}
