/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/program/program_table.h"

#include <elf.h>

#include "base/memory.h"
#include "unwind/table/dwarf_cfi.h"

_Static_assert(CFI_PAGE == GUEST_ELF_FRAMES_PAGE, "the same pages");

static struct error *make_table(const struct guest_elf_frames *frames, struct unwind_table **ret)
{
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	struct dwarf_code code[GUEST_ELF_MAX_CODE];
	struct cfi_section section = {
		.data = frames->data,
		.bytes = frames->bytes,
		.address = frames->address,
		.debug_frame = frames->debug_frame,
		.machine = frames->bits32 ? EM_386 : EM_X86_64,
		.page_offset = frames->page_offset,
		.pages = frames->pages,
		.records = frames->records,
		.record_count = frames->record_count,
	};

	for (size_t i = 0; i < frames->code_count; i++)
		code[i] = (struct dwarf_code){ frames->code[i].address, frames->code[i].bytes,
					       frames->code[i].offset };
	if (!dwarf_add_section(table, &section, code, frames->code_count))
		return error_create(ERROR_NOT_FOUND, "its call frame information is malformed");
	*ret = take_pointer(table);
	return NULL;
}

struct error *unwind_table_read_file(const struct guest_elf_source *source,
				     struct unwind_table **ret)
{
	_cleanup_guest_elf_frames_ struct guest_elf_frames frames = { 0 };
	struct error *error = guest_elf_frames_read(source, &frames);

	return error ? error : make_table(&frames, ret);
}

/* For code without call frame information: what chains can be built from instead. */
static struct error *use_functions(const struct guest_elf_source *source, const uint8_t *file,
				   struct guest_elf_frames *frames, struct unwind_image *image)
{
	struct error *error = guest_elf_code_read(source, frames);

	if (!error)
		error = guest_elf_symbols(source, &image->symbols);
	image->functions = (struct unwind_functions){ .file = file,
						      .bytes = source->bytes,
						      .symbols = image->symbols };
	return error;
}

struct error *unwind_image_read(const struct guest_elf_source *source, const uint8_t *file,
				struct unwind_image *ret)
{
	_cleanup_guest_elf_frames_ struct guest_elf_frames frames = { 0 };
	struct error *error = guest_elf_frames_read(source, &frames);

	*ret = (struct unwind_image){ 0 };
	if (!error) {
		error = make_table(&frames, &ret->table);
	} else if (error_code(error) == ERROR_NOT_FOUND) {
		error_destroy(error);
		error = use_functions(source, file, &frames, ret);
	}
	if (error)
		return error;
	for (; ret->count < frames.code_count; ret->count++)
		ret->code[ret->count] = (struct unwind_mapping){
			.start = GVA(frames.code[ret->count].address),
			.end = GVA(frames.code[ret->count].address + frames.code[ret->count].bytes),
			.offset = frames.code[ret->count].offset,
			.table = ret->table,
			.functions = ret->table ? NULL : &ret->functions,
		};
	return NULL;
}

void unwind_image_deinit(struct unwind_image *image)
{
	unwind_table_destroy(image->table);
	symbol_table_destroy(image->symbols);
}

struct error *unwind_table_read_program(struct guest_program_reader *reader,
					const struct guest_program *program,
					struct unwind_table **ret)
{
	_cleanup_guest_elf_frames_ struct guest_elf_frames frames = { 0 };
	struct error *error = guest_program_frames(reader, program, &frames);

	return error ? error : make_table(&frames, ret);
}
