/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a guest's kernel: copies the read-only data of its image once (it does not change), and
 * finds kallsyms and BTF there.
 *
 * The build-id is in the GNU note that the image has between __start_notes and __stop_notes
 * (include/asm-generic/vmlinux.lds.h, NOTES).
 */
#include "guest/kernel/kernel.h"

#include <elf.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/sort.h"
#include "guest/kernel/kernel_private.h"

#define MAX_READ_ONLY_BYTES (64ULL << 20) /* in total: page tables may map a page many times */
#define MAX_NOTES_BYTES 4096

static void copy_read_only(struct guest_kernel *kernel)
{
	uint64_t bytes_left = MAX_READ_ONLY_BYTES;

	for (size_t i = 0; i < kernel->image.regions.count; i++) {
		const struct guest_region *region = &kernel->image.regions.items[i];
		struct guest_block block = { .start = region->start,
					     .size = region->end.value - region->start.value };

		if (region->kind != GUEST_REGION_READ_ONLY)
			continue;
		block.data = guest_space_copy(kernel->space, block.start, block.size, bytes_left);
		if (!block.data)
			continue;
		bytes_left -= block.size;
		vector_append(&kernel->blocks, block);
	}
}

/* 32 bits: sorting takes half as many passes, and few names collide. */
static uint32_t hash_name(const char *name)
{
	return (uint32_t)hash_bytes(name, strlen(name));
}

static void index_names(struct guest_kernel *kernel)
{
	size_t count = kernel->symbols.count;
	_cleanup_free_ struct sort_key *keys = memory_calloc(count, sizeof(*keys));
	struct guest_name_key *by_name = memory_calloc(count, sizeof(*by_name));

	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){ hash_name(kernel->symbols.items[i].name), i };
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++)
		by_name[i] = (struct guest_name_key){ keys[i].key, keys[i].index };
	kernel->by_name = kernel->by_name_copy = by_name;
}

/* False: a few compressed bytes expand to more names than any kernel has. */
static bool take_symbols(struct guest_kernel *kernel, const struct guest_kallsyms *kallsyms)
{
	struct guest_kallsyms_iterator iterator = guest_kallsyms_iterate(kallsyms);
	struct guest_kallsyms_symbol symbol;

	vector_reserve(&kernel->symbols, kallsyms->count);
	while (guest_kallsyms_next(&iterator, &symbol)) {
		size_t length = strlen(symbol.name);

		if (arena_bytes(kernel->names) > GUEST_KERNEL_NAMES_MAX_BYTES)
			return false;
		vector_append(&kernel->symbols,
			      (struct guest_symbol){
				      .address = symbol.address,
				      .name = arena_strndup(kernel->names, symbol.name, length),
				      .type = symbol.type });
	}
	index_names(kernel);
	return true;
}

static void add_witness(struct guest_kernel *kernel, struct gva end, uint64_t bytes)
{
	if (bytes > GUEST_WITNESS_MAX_BYTES)
		bytes = GUEST_WITNESS_MAX_BYTES;
	kernel->witnesses[kernel->witness_count++] =
		(struct guest_witness){ GVA(end.value - bytes), bytes };
}

/* The token table and the addresses: both differ between builds with different symbols. */
static void take_witnesses(struct guest_kernel *kernel, const struct guest_kallsyms *kallsyms)
{
	uint64_t start = kallsyms->block.start.value;
	uint64_t tokens_end = kallsyms->token_index + GUEST_KALLSYMS_INDEX_BYTES;
	uint64_t bytes = (uint64_t)kallsyms->count * guest_kallsyms_address_bytes(kallsyms);

	add_witness(kernel, GVA(start + tokens_end), tokens_end - kallsyms->names);
	add_witness(kernel, GVA(start + kallsyms->addresses + bytes), bytes);
}

static struct error *find_symbols(struct guest_kernel *kernel)
{
	struct guest_kallsyms kallsyms;

	for (size_t i = 0; i < kernel->blocks.count; i++) {
		if (!guest_kallsyms_find(&kernel->blocks.items[i], kernel->image.start,
					 kernel->image.end, &kallsyms))
			continue;
		take_witnesses(kernel, &kallsyms);
		if (take_symbols(kernel, &kallsyms))
			return NULL;
		return error_create(ERROR_BAD_DATA, "the guest's kernel has too many symbol names");
	}
	return error_create(ERROR_NOT_FOUND,
			    "the guest's kernel at %#llx has no symbol table (CONFIG_KALLSYMS)",
			    (unsigned long long)kernel->image.start.value);
}

/* The bytes between two symbols: inside a block if one holds them, else a copy in *RET_COPY. */
static const uint8_t *bytes_between(struct guest_kernel *kernel, const char *start_name,
				    const char *end_name, uint64_t max_bytes, uint64_t *ret_size,
				    uint8_t **ret_copy)
{
	struct gva start, end;
	uint64_t size;

	if (!guest_kernel_find_symbol(kernel, start_name, &start) ||
	    !guest_kernel_find_symbol(kernel, end_name, &end) || end.value <= start.value)
		return NULL;
	size = end.value - start.value;
	if (size > max_bytes)
		return NULL;
	*ret_size = size;
	*ret_copy = NULL;
	for (size_t i = 0; i < kernel->blocks.count; i++) {
		const struct guest_block *block = &kernel->blocks.items[i];
		uint64_t offset = start.value - block->start.value;

		if (start.value >= block->start.value && offset <= block->size &&
		    size <= block->size - offset)
			return block->data + offset;
	}
	*ret_copy = guest_space_copy(kernel->space, start, size, max_bytes);
	return *ret_copy;
}

static void open_btf(struct guest_kernel *kernel)
{
	kernel->btf_bytes =
		bytes_between(kernel, "__start_BTF", "__stop_BTF", GUEST_KERNEL_BTF_MAX_BYTES,
			      &kernel->btf_size, &kernel->btf_copy);
	if (kernel->btf_bytes)
		kernel->btf = guest_btf_create(kernel->btf_bytes, kernel->btf_size);
}

/* Each note: name size, desc size, type, then name and desc, both padded to 4 bytes. */
static void find_build_id(struct guest_kernel *kernel)
{
	_cleanup_free_ uint8_t *copy = NULL;
	uint64_t size;
	const uint8_t *bytes = bytes_between(kernel, "__start_notes", "__stop_notes",
					     MAX_NOTES_BYTES, &size, &copy);
	struct cursor cursor = cursor_make(bytes, bytes ? size : 0, false);
	struct gva start = GVA(0);

	guest_kernel_find_symbol(kernel, "__start_notes", &start);
	while (cursor_left(&cursor) >= 12) {
		uint32_t name_bytes = cursor_u32(&cursor), desc_bytes = cursor_u32(&cursor);
		uint32_t type = cursor_u32(&cursor);
		const char *name = cursor_bytes(&cursor, ((uint64_t)name_bytes + 3) & ~3ULL);
		const void *desc = cursor_bytes(&cursor, ((uint64_t)desc_bytes + 3) & ~3ULL);

		if (!name || !desc)
			return;
		if (type != NT_GNU_BUILD_ID || name_bytes != 4 || memcmp(name, "GNU", 4) ||
		    desc_bytes > GUEST_KERNEL_BUILD_ID_MAX)
			continue;
		memcpy(kernel->build_id, desc, desc_bytes);
		kernel->build_id_bytes = desc_bytes;
		add_witness(kernel, GVA(start.value + cursor.offset), desc_bytes);
		return;
	}
}

struct error *guest_kernel_open(struct guest_space *space, struct guest_kernel **ret)
{
	_cleanup_guest_kernel_ struct guest_kernel *kernel = memory_calloc(1, sizeof(*kernel));
	struct error *error;

	kernel->space = space;
	kernel->names = arena_create();
	if (!guest_kernel_image_find(space, &kernel->image))
		return error_create(ERROR_NOT_FOUND,
				    "the guest's page tables do not map a Linux kernel");
	copy_read_only(kernel);
	error = find_symbols(kernel);
	if (error)
		return error;
	open_btf(kernel);
	find_build_id(kernel);
	*ret = take_pointer(kernel);
	return NULL;
}

void guest_kernel_close(struct guest_kernel *kernel)
{
	if (!kernel)
		return;
	guest_btf_destroy(kernel->btf);
	free(kernel->btf_copy);
	for (size_t i = 0; i < kernel->blocks.count; i++)
		free((void *)kernel->blocks.items[i].data);
	vector_deinit(&kernel->blocks);
	vector_deinit(&kernel->symbols);
	free(kernel->by_name_copy);
	arena_destroy(kernel->names);
	guest_kernel_image_deinit(&kernel->image);
	free(kernel);
}

struct guest_space *guest_kernel_space(const struct guest_kernel *kernel)
{
	return kernel->space;
}

const struct guest_kernel_image *guest_kernel_get_image(const struct guest_kernel *kernel)
{
	return &kernel->image;
}

size_t guest_kernel_symbol_count(const struct guest_kernel *kernel)
{
	return kernel->symbols.count;
}

const struct guest_symbol *guest_kernel_symbols(const struct guest_kernel *kernel)
{
	return kernel->symbols.items;
}

/* The sort is stable: of symbols with the same name, the first is found. */
bool guest_kernel_find_symbol(const struct guest_kernel *kernel, const char *name, struct gva *ret)
{
	size_t count = kernel->symbols.count;
	uint32_t hash = hash_name(name);
	size_t place = SEARCH_COUNT(i, count, kernel->by_name[i].hash < hash);

	for (; place < count && kernel->by_name[place].hash == hash; place++) {
		uint32_t number = kernel->by_name[place].symbol;
		const struct guest_symbol *symbol = &kernel->symbols.items[number];

		if (number >= count || strcmp(symbol->name, name))
			continue;
		*ret = symbol->address;
		return true;
	}
	return false;
}

const struct guest_btf *guest_kernel_btf(const struct guest_kernel *kernel)
{
	return kernel->btf;
}

size_t guest_kernel_build_id(const struct guest_kernel *kernel, const uint8_t **ret)
{
	*ret = kernel->build_id;
	return kernel->build_id_bytes;
}

struct error *guest_kernel_layout(const struct guest_kernel *kernel,
				  const struct guest_layout_row *rows, void *layout)
{
	if (!kernel->btf)
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel has no type information (BTF)");
	for (; rows->structure; rows++) {
		struct guest_btf_field *field =
			(struct guest_btf_field *)((char *)layout + rows->field);

		*field = (struct guest_btf_field){ 0 };
		if (!guest_btf_find_field(kernel->btf, rows->structure, rows->path, field) &&
		    !rows->optional)
			return error_create(ERROR_UNSUPPORTED,
					    "the guest's kernel has no field %s in struct %s",
					    rows->path, rows->structure);
	}
	return NULL;
}

bool guest_kernel_read_field(const struct guest_kernel *kernel, struct gva base,
			     const struct guest_btf_field *field, uint64_t *ret)
{
	uint64_t value = 0;

	if (!field->size || field->size > sizeof(value) ||
	    !guest_space_read(kernel->space, GVA(base.value + field->offset), &value, field->size))
		return false;
	if (field->bit_count && field->bit_count < 64)
		value = value >> field->bit_offset & ((1ULL << field->bit_count) - 1);
	*ret = value;
	return true;
}
