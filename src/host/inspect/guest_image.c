/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * If the user names the wrong file, chains would be wrong. The guest's code is therefore compared
 * with the file's, page by page; code that differs has no unwind data. The guest's page tables are
 * read in the cage.
 */
#include "host/inspect/guest_image.h"

#include <string.h>

#include "base/cursor.h"
#include "base/files/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "host/inspect/guest_client.h"
#include "host/inspect/guest_view.h"
#include "unwind/program/program_table.h"

#define CR4_LA57 (1u << 12)
#define MAX_VCPUS_TRIED 8

static const struct guest_client_limits limits = { .bytes_per_call = 64 << 20,
						   .seconds_per_call = 10 };

struct guest_image {
	char *path;
	struct mapped_file file;
	struct unwind_image unwind;
};

static bool read_file(void *context, uint64_t offset, void *data, size_t size)
{
	const struct guest_image *image = context;

	if (offset > image->file.size || size > image->file.size - offset)
		return false;
	memcpy(data, image->file.data + offset, size);
	return true;
}

struct error *guest_image_load(const char *path, struct guest_image **ret)
{
	struct guest_image *image = memory_calloc(1, sizeof(*image));
	struct guest_elf_source source = { .read = read_file, .context = image };
	struct error *error = file_map(path, &image->file);

	source.bytes = image->file.size;
	if (!error)
		error = unwind_image_read(&source, image->file.data, &image->unwind);
	if (error) {
		guest_image_destroy(image);
		return error_prefix(error, "'%s'", path);
	}
	image->path = memory_strdup(path);
	*ret = image;
	return NULL;
}

void guest_image_destroy(struct guest_image *image)
{
	if (!image)
		return;
	unwind_image_deinit(&image->unwind);
	file_unmap(&image->file);
	free(image->path);
	free(image);
}

const char *guest_image_path(const struct guest_image *image)
{
	return image->path;
}

/* Appends the range from FROM to END, where guest and file have the same code, to CODE. */
static void add_code(struct guest_image_code *code, const struct unwind_mapping *segment,
		     uint64_t from, uint64_t end)
{
	struct unwind_mapping *last = code->count ? &code->items[code->count - 1] : NULL;

	if (last && last->end.value == from && last->table == segment->table &&
	    last->offset + (from - last->start.value) ==
		    segment->offset + (from - segment->start.value))
		last->end = GVA(end);
	else
		vector_append(code,
			      ((struct unwind_mapping){ .start = GVA(from),
							.end = GVA(end),
							.offset = segment->offset +
								  (from - segment->start.value),
							.table = segment->table,
							.functions = segment->functions }));
}

/* Compares the pages of ANSWER (GUEST_ASK_CODE), from FIRST on, with the file. */
static void compare(const struct guest_image *image, const struct unwind_mapping *segment,
		    uint64_t first, const struct buffer *answer, struct guest_image_code *code)
{
	struct cursor cursor = cursor_make(answer->data, answer->size, false);

	for (uint64_t page = first; cursor_left(&cursor); page += GUEST_PAGE_BYTES) {
		bool there = cursor_u32(&cursor);
		const uint8_t *bytes = there ? cursor_bytes(&cursor, GUEST_PAGE_BYTES) : NULL;
		uint64_t from = page < segment->start.value ? segment->start.value : page;
		uint64_t end = page + GUEST_PAGE_BYTES < segment->end.value
				       ? page + GUEST_PAGE_BYTES
				       : segment->end.value;

		if (cursor.failed || from >= end)
			return;
		if (bytes &&
		    !memcmp(bytes + (from - page),
			    image->file.data + segment->offset + (from - segment->start.value),
			    end - from))
			add_code(code, segment, from, end);
	}
}

/* If a segment is larger than an answer can be, the rest of it gets no unwind data. */
static struct error *compare_segment(struct guest_client *client, const struct arch_mmu *mmu,
				     const struct guest_image *image,
				     const struct unwind_mapping *segment,
				     struct guest_image_code *code)
{
	uint64_t first = segment->start.value & ~(uint64_t)(GUEST_PAGE_BYTES - 1);
	uint64_t pages = (segment->end.value - first + GUEST_PAGE_BYTES - 1) / GUEST_PAGE_BYTES;
	_cleanup_buffer_ struct buffer answer;
	struct error *error;

	buffer_init(&answer, GUEST_MESSAGE_MAX);
	error = guest_client_ask_code(client, mmu, GVA(first),
				      pages < GUEST_CODE_PAGES ? pages : GUEST_CODE_PAGES, &answer);
	if (!error)
		compare(image, segment, first, &answer, code);
	return error;
}

/* Segments are few, and ascending in any ELF file that can be loaded. */
static struct error *compare_all(struct guest_client *client, const struct arch_mmu *mmu,
				 const struct guest_image *image, struct guest_image_code *code)
{
	struct error *error = NULL;
	uint64_t behind = 0;

	for (size_t i = 0; i < image->unwind.count && !error; i++) {
		const struct unwind_mapping *segment = &image->unwind.code[i];

		if (segment->start.value < behind || segment->end.value <= segment->start.value)
			continue;
		behind = segment->end.value;
		error = compare_segment(client, mmu, image, segment, code);
	}
	return error;
}

static bool has_page_tables(const struct host_vm_registers *registers)
{
	return !registers->nested && registers->mmu.x86.cr3;
}

static struct error *find_code(struct host_vm_memory *memory, const struct guest_image *image,
			       struct guest_image_code *code)
{
	_cleanup_guest_client_ struct guest_client *client = NULL;
	struct error *error = guest_view_start_parser(memory, &limits, &client);
	size_t tried = 0;

	for (size_t i = 0; i < memory->registers.count && tried < MAX_VCPUS_TRIED && !code->count;
	     i++) {
		const struct host_vm_registers *registers = &memory->registers.items[i];

		if (error)
			return error;
		if (!has_page_tables(registers))
			continue;
		error = compare_all(client, &registers->mmu, image, code);
		tried++;
	}
	return error;
}

struct error *guest_image_look(struct vm_memory_finder *finder, const struct host_vm *vm,
			       const struct guest_image *image, uint64_t version,
			       struct sampler_vm *ret, struct guest_image_code *ret_code)
{
	struct sampler_vm description = { .version = version, .version_again = version };
	struct guest_image_code code = { 0 };
	struct host_vm_memory memory = { 0 };
	struct error *error = vm_memory_find(finder, vm, &memory);

	if (error)
		return error;
	description.current.levels = 4;
	for (size_t i = 0; i < memory.registers.count; i++)
		if (memory.registers.items[i].mmu.x86.cr4 & CR4_LA57)
			description.current.levels = 5;
	guest_view_describe_slots(&memory, &description);
	if (image)
		error = find_code(&memory, image, &code);
	host_vm_memory_deinit(&memory);
	if (error) {
		vector_deinit(&code);
		return error;
	}
	*ret = description;
	*ret_code = code;
	return NULL;
}
