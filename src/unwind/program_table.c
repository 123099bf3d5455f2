/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/program_table.h"

#include "base/memory.h"
#include "unwind/dwarf_cfi.h"

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

struct error *unwind_image_read(const struct guest_elf_source *source, struct unwind_image *ret)
{
	_cleanup_guest_elf_frames_ struct guest_elf_frames frames = { 0 };
	struct error *error = guest_elf_frames_read(source, &frames);
	struct unwind_image image = { 0 };

	if (!error)
		error = make_table(&frames, &image.table);
	if (error)
		return error;
	for (; image.count < frames.code_count; image.count++)
		image.code[image.count] = (struct unwind_mapping){
			.start = GVA(frames.code[image.count].address),
			.end = GVA(frames.code[image.count].address +
				   frames.code[image.count].bytes),
			.offset = frames.code[image.count].offset,
			.table = image.table,
		};
	*ret = image;
	return NULL;
}

void unwind_image_deinit(struct unwind_image *image)
{
	unwind_table_destroy(image->table);
}

struct error *unwind_table_read_program(struct guest_program_reader *reader,
					const struct guest_program *program,
					struct unwind_table **ret)
{
	_cleanup_guest_elf_frames_ struct guest_elf_frames frames = { 0 };
	struct error *error = guest_program_frames(reader, program, &frames);

	return error ? error : make_table(&frames, ret);
}
