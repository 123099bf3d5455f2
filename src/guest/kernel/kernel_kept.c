/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's kernel as bytes: everything found about it, and how to recognise that it is still
 * running, namely the position of its image and a few of its bytes.
 *
 * In this machine's byte order: u32 KEPT_FORM; the position of the image: u64 start, u64 end, u64
 * guest physical address of its start; u32 count of regions, each u64 start, u64 end, u32 kind; u32
 * count of witnesses, each u64 address, u32 bytes, u64 hash of these bytes; u32 size of the
 * build-id, then the build-id; u32 count of symbols, their names in hash order (struct
 * guest_name_key, aligned to 4), their u64 addresses, u32 offsets of their names, u8 types, u32
 * size of the names, then the names, each terminated by 0; u32 size of BTF, then BTF.
 */
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "guest/kernel/kernel_private.h"

#define KEPT_FORM 1
#define MAX_IMAGE_BYTES (1ULL << 30)
#define MAX_SYMBOLS (1u << 20)
#define MAX_HEAD_BYTES 4096

static bool hash_witness(struct guest_space *space, const struct guest_witness *witness,
			 uint64_t *ret)
{
	_cleanup_free_ uint8_t *bytes =
		guest_space_copy(space, witness->start, witness->bytes, GUEST_WITNESS_MAX_BYTES);

	if (bytes)
		*ret = hash_bytes(bytes, witness->bytes);
	return bytes;
}

static void keep_image(const struct guest_kernel *kernel, struct buffer *to)
{
	const struct guest_kernel_image *image = &kernel->image;

	buffer_append_u32(to, image->regions.count);
	for (size_t i = 0; i < image->regions.count; i++) {
		buffer_append_u64(to, image->regions.items[i].start.value);
		buffer_append_u64(to, image->regions.items[i].end.value);
		buffer_append_u32(to, image->regions.items[i].kind);
	}
}

static bool keep_witnesses(const struct guest_kernel *kernel, struct buffer *to)
{
	buffer_append_u32(to, kernel->witness_count);
	for (size_t i = 0; i < kernel->witness_count; i++) {
		uint64_t hash;

		if (!hash_witness(kernel->space, &kernel->witnesses[i], &hash))
			return false;
		buffer_append_u64(to, kernel->witnesses[i].start.value);
		buffer_append_u32(to, kernel->witnesses[i].bytes);
		buffer_append_u64(to, hash);
	}
	return true;
}

static void keep_names(const struct guest_kernel *kernel, size_t bytes, struct buffer *to)
{
	char *text;

	buffer_append_u32(to, bytes);
	text = buffer_extend(to, bytes);
	for (size_t i = 0; text && i < kernel->symbols.count; i++)
		text = stpcpy(text, kernel->symbols.items[i].name) + 1;
}

static void keep_symbols(const struct guest_kernel *kernel, struct buffer *to)
{
	size_t count = kernel->symbols.count, names_bytes = 0;
	_cleanup_free_ uint64_t *addresses = memory_calloc(count, sizeof(*addresses));
	_cleanup_free_ uint32_t *names = memory_calloc(count, sizeof(*names));
	_cleanup_free_ char *types = memory_calloc(count, sizeof(*types));

	for (size_t i = 0; i < count; i++) {
		const struct guest_symbol *symbol = &kernel->symbols.items[i];

		addresses[i] = symbol->address.value;
		names[i] = names_bytes;
		types[i] = symbol->type;
		names_bytes += strlen(symbol->name) + 1;
	}
	buffer_append_u32(to, count);
	buffer_pad(to, sizeof(uint32_t));
	buffer_append(to, kernel->by_name, count * sizeof(*kernel->by_name));
	buffer_append(to, addresses, count * sizeof(*addresses));
	buffer_append(to, names, count * sizeof(*names));
	buffer_append(to, types, count * sizeof(*types));
	keep_names(kernel, names_bytes, to);
}

/* The part that distinguishes it from other kernels. */
static bool keep_head(const struct guest_kernel *kernel, struct buffer *to)
{
	struct gpa start;

	if (!guest_space_translate(kernel->space, kernel->image.start, &start))
		return false;
	buffer_append_u32(to, KEPT_FORM);
	buffer_append_u64(to, kernel->image.start.value);
	buffer_append_u64(to, kernel->image.end.value);
	buffer_append_u64(to, start.value);
	keep_image(kernel, to);
	return keep_witnesses(kernel, to);
}

uint64_t guest_kernel_identity(const struct guest_kernel *kernel)
{
	_cleanup_buffer_ struct buffer head;

	buffer_init(&head, MAX_HEAD_BYTES);
	if (!keep_head(kernel, &head) || head.overflow)
		return 0;
	return hash_bytes(head.data, head.size) | 1;
}

bool guest_kernel_keep(const struct guest_kernel *kernel, struct buffer *to)
{
	uint32_t btf_bytes = kernel->btf ? kernel->btf_size : 0;

	if (!keep_head(kernel, to))
		return false;
	buffer_append_u32(to, kernel->build_id_bytes);
	buffer_append(to, kernel->build_id, kernel->build_id_bytes);
	keep_symbols(kernel, to);
	buffer_append_u32(to, btf_bytes);
	buffer_append(to, kernel->btf_bytes, btf_bytes);
	return !to->overflow;
}

static bool take_image(struct cursor *kept, struct guest_kernel *kernel)
{
	struct guest_kernel_image *image = &kernel->image;
	uint64_t last = image->start.value;
	uint32_t count = cursor_u32(kept);

	if (image->end.value <= image->start.value ||
	    image->end.value - image->start.value > MAX_IMAGE_BYTES)
		return false;
	for (uint32_t i = 0; i < count && !kept->failed; i++) {
		struct guest_region region = { .start = GVA(cursor_u64(kept)) };

		region.end = GVA(cursor_u64(kept));
		region.kind = cursor_u32(kept);
		if (region.start.value < last || region.end.value <= region.start.value ||
		    region.end.value > image->end.value || region.kind > GUEST_REGION_DATA)
			return false;
		last = region.end.value;
		vector_append(&image->regions, region);
	}
	return !kept->failed;
}

/* Whether the guest's memory still has the bytes that the witnesses recorded. */
static bool is_same(struct cursor *kept, struct guest_kernel *kernel)
{
	uint32_t count = cursor_u32(kept);

	if (!count || count > GUEST_KERNEL_WITNESSES)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct guest_witness *witness = &kernel->witnesses[i];
		uint64_t hash;

		witness->start = GVA(cursor_u64(kept));
		witness->bytes = cursor_u32(kept);
		if (!hash_witness(kernel->space, witness, &hash) || hash != cursor_u64(kept))
			return false;
	}
	kernel->witness_count = count;
	return !kept->failed;
}

static bool take_build_id(struct cursor *kept, struct guest_kernel *kernel)
{
	uint32_t bytes = cursor_u32(kept);
	const void *build_id = cursor_bytes(kept, bytes);

	if (!build_id || bytes > sizeof(kernel->build_id))
		return false;
	memcpy(kernel->build_id, build_id, bytes);
	kernel->build_id_bytes = bytes;
	return true;
}

/* Every name must lie within the names, which end with a 0. */
static bool take_symbols(struct cursor *kept, struct guest_kernel *kernel)
{
	uint32_t count = cursor_u32(kept), names_bytes;
	const uint8_t *addresses, *offsets, *types;
	const char *names;

	if (!count || count > MAX_SYMBOLS)
		return false;
	cursor_skip(kept, -kept->offset % sizeof(uint32_t));
	kernel->by_name = cursor_bytes(kept, count * sizeof(*kernel->by_name));
	addresses = cursor_bytes(kept, count * sizeof(uint64_t));
	offsets = cursor_bytes(kept, count * sizeof(uint32_t));
	types = cursor_bytes(kept, count);
	names_bytes = cursor_u32(kept);
	names = cursor_bytes(kept, names_bytes);
	if (!names || !names_bytes || names[names_bytes - 1])
		return false;
	vector_reserve(&kernel->symbols, count);
	for (uint32_t i = 0; i < count; i++) {
		struct guest_symbol symbol = { .type = types[i] };
		uint32_t offset;

		memcpy(&symbol.address, addresses + i * sizeof(symbol.address),
		       sizeof(symbol.address));
		memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset));
		if (offset >= names_bytes)
			return false;
		symbol.name = names + offset;
		vector_append(&kernel->symbols, symbol);
	}
	return true;
}

static bool take_types(struct cursor *kept, struct guest_kernel *kernel)
{
	kernel->btf_size = cursor_u32(kept);
	kernel->btf_bytes = cursor_bytes(kept, kernel->btf_size);
	if (!kernel->btf_bytes || cursor_left(kept))
		return false;
	if (kernel->btf_size)
		kernel->btf = guest_btf_create(kernel->btf_bytes, kernel->btf_size);
	return !kernel->btf_size || kernel->btf;
}

struct error *guest_kernel_recall(struct guest_space *space, const void *data, size_t size,
				  struct guest_kernel **ret)
{
	_cleanup_guest_kernel_ struct guest_kernel *kernel = memory_calloc(1, sizeof(*kernel));
	struct cursor kept = cursor_make(data, size, false);
	uint32_t form = cursor_u32(&kept);
	struct gpa start, here;

	kernel->space = space;
	kernel->image.start = GVA(cursor_u64(&kept));
	kernel->image.end = GVA(cursor_u64(&kept));
	start = GPA(cursor_u64(&kept));
	if (form != KEPT_FORM || !take_image(&kept, kernel))
		return error_create(ERROR_BAD_DATA, "the kept copy of a kernel is malformed");
	if (!guest_space_translate(space, kernel->image.start, &here) ||
	    here.value != start.value || !is_same(&kept, kernel))
		return error_create(ERROR_NOT_FOUND, "the kernel that was kept is not running");
	if (!take_build_id(&kept, kernel) || !take_symbols(&kept, kernel) ||
	    !take_types(&kept, kernel))
		return error_create(ERROR_BAD_DATA, "the kept copy of a kernel is malformed");
	*ret = take_pointer(kernel);
	return NULL;
}
