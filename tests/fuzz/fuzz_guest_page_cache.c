/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's memory with a page cache: the input is all of its RAM, with a struct address_space at
 * its start. Addresses are physical (32 bits, no paging); offsets in structures are fixed here.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "guest/process/page_cache.h"

#define MAX_READS 4096 /* for one look at the page cache, far more than a real one needs */

struct input {
	const uint8_t *data;
	size_t size;
	unsigned int reads;
};

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct input *input = context;

	assert(++input->reads <= MAX_READS);
	for (size_t i = 0; i < count; i++) {
		assert(from[i].value <= input->size - GUEST_PAGE_BYTES);
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, input->data + from[i].value,
		       GUEST_PAGE_BYTES);
	}
	return true;
}

static struct guest_btf_field at(uint64_t offset, uint64_t size)
{
	return (struct guest_btf_field){ .offset = offset, .size = size };
}

static void look(struct guest_page_cache *cache)
{
	static const uint64_t indexes[] = { 0, 1, 63, 64, 4095, 4096, 1 << 18, UINT64_MAX };
	struct guest_cached_file file;
	uint8_t data[3 * GUEST_PAGE_BYTES];
	struct gpa gpa;

	for (size_t i = 0; i < sizeof(indexes) / sizeof(*indexes); i++)
		if (guest_page_cache_find(cache, GVA(0), indexes[i], &gpa))
			assert(gpa.value % GUEST_PAGE_BYTES == 0);
	if (!guest_cached_file_open(cache, GVA(0), &file))
		return;
	(void)guest_cached_file_read(&file, 0, data, sizeof(data));
	(void)guest_cached_file_read(&file, 64 * GUEST_PAGE_BYTES - 1, data, 2);
	/* Memory does not change here: it must be found again. */
	assert(guest_cached_file_unchanged(&file));
	guest_cached_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .data = data, .size = size };
	struct guest_memory_source source = { read_pages, &input };
	struct guest_slot slot = { GPA(0), size - size % GUEST_PAGE_BYTES };
	struct arch_mmu mmu = { .arch = &arch_i386 };
	_cleanup_guest_memory_ struct guest_memory *memory = NULL;
	struct guest_space space;
	struct guest_page_cache cache = {
		&space,
		{ .tree = at(16, 8), .host = at(0, 8), .size = at(80, 8), .shift = at(0, 1),
		  .slots = at(40, 512), .flags = at(0, 8), .mapping = at(24, 8), .index = at(32, 8),
		  .page_struct_bytes = 64, .page_structs = 0x800, .uptodate_bit = 2 }
	};

	if (size < GUEST_PAGE_BYTES)
		return 0;
	memory = guest_memory_create(&source, &slot, 1, 1 << 20);
	guest_space_init(&space, memory, &mmu);
	look(&cache);
	return 0;
}
