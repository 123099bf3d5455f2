/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page cache built here: an address_space, its xarray and struct pages, in a guest without
 * paging, whose addresses are physical. Offsets are those of a 6.1 kernel.
 */
#include "test.h"

#include <string.h>

#include "guest/process/page_cache.h"

#define MEMORY_BYTES 0x200000
#define FILE_AT 0x1000
#define INODE_AT 0x1400
#define NODES_AT 0x2000
#define NODE_BYTES 576
#define VMEMMAP 0x20000
#define UPTODATE 4

/* Bits in xarray entries. */
#define NODE(address) ((address) | 2)
#define SIBLING(slot) ((uint64_t)(slot) << 2 | 2)
#define VALUE(value) ((uint64_t)(value) << 1 | 1)

struct guest {
	uint8_t ram[MEMORY_BYTES];
	struct guest_memory *memory;
	struct guest_space space;
	struct guest_page_cache cache;
	size_t nodes;
};

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct guest *guest = context;

	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, guest->ram + from[i].value,
		       GUEST_PAGE_BYTES);
	return true;
}

static void put(struct guest *guest, uint64_t at, uint64_t value)
{
	memcpy(guest->ram + at, &value, sizeof(value));
}

static struct guest_btf_field at(uint64_t offset, uint64_t size)
{
	return (struct guest_btf_field){ .offset = offset, .size = size };
}

static struct guest *make(uint64_t file_bytes)
{
	static const struct guest_slot slot = { { 0 }, MEMORY_BYTES };
	static const struct arch_mmu mmu = { .arch = &arch_i386 };
	struct guest *guest = test_calloc(1, sizeof(*guest));
	struct guest_memory_source source = { read_pages, guest };

	guest->memory = guest_memory_create(&source, &slot, 1, 1 << 20);
	guest_space_init(&guest->space, guest->memory, &mmu);
	guest->cache = (struct guest_page_cache){
		&guest->space,
		{ .tree = at(16, 8), .host = at(0, 8), .size = at(80, 8), .shift = at(0, 1),
		  .slots = at(40, 512), .flags = at(0, 8), .mapping = at(24, 8), .index = at(32, 8),
		  .page_struct_bytes = 64, .page_structs = VMEMMAP, .uptodate_bit = 2 }
	};
	put(guest, FILE_AT, INODE_AT);
	put(guest, INODE_AT + 80, file_bytes);
	return guest;
}

static void destroy(struct guest *guest)
{
	guest_memory_destroy(guest->memory);
	test_free(guest);
}

static void set_head(struct guest *guest, uint64_t entry)
{
	put(guest, FILE_AT + 16, entry);
}

static uint64_t add_node(struct guest *guest, unsigned int shift)
{
	uint64_t node = NODES_AT + NODE_BYTES * guest->nodes++;

	guest->ram[node] = shift;
	return node;
}

static void set_slot(struct guest *guest, uint64_t node, unsigned int slot, uint64_t entry)
{
	put(guest, node + 40 + 8 * slot, entry);
}

/* The folio that starts with FRAME, and contains page INDEX of the file. */
static uint64_t add_folio(struct guest *guest, uint64_t frame, uint64_t index)
{
	uint64_t folio = VMEMMAP + 64 * frame;

	put(guest, folio, UPTODATE);
	put(guest, folio + 24, FILE_AT);
	put(guest, folio + 32, index);
	return folio;
}

/* The frame of page INDEX; -1: none. */
static int64_t find(struct guest *guest, uint64_t index)
{
	struct gpa gpa;

	guest_space_forget(&guest->space);
	if (!guest_page_cache_find(&guest->cache, GVA(FILE_AT), index, &gpa))
		return -1;
	assert_int_equal(gpa.value % GUEST_PAGE_BYTES, 0);
	return gpa.value / GUEST_PAGE_BYTES;
}

static void one_page_has_no_node(void **state)
{
	struct guest *guest = make(100);

	(void)state;
	assert_int_equal(find(guest, 0), -1);
	set_head(guest, add_folio(guest, 0x100, 0));
	assert_int_equal(find(guest, 0), 0x100);
	assert_int_equal(find(guest, 1), -1);
	destroy(guest);
}

static void nodes_are_walked(void **state)
{
	struct guest *guest = make(1 << 30);
	uint64_t top = add_node(guest, 12), middle = add_node(guest, 6), leaf = add_node(guest, 0);

	(void)state;
	set_head(guest, NODE(top));
	set_slot(guest, top, 3, NODE(middle));
	set_slot(guest, middle, 63, NODE(leaf));
	set_slot(guest, leaf, 5, add_folio(guest, 0x101, 3 << 12 | 63 << 6 | 5));
	assert_int_equal(find(guest, 3 << 12 | 63 << 6 | 5), 0x101);
	assert_int_equal(find(guest, 3 << 12 | 63 << 6 | 6), -1);
	assert_int_equal(find(guest, 2 << 12 | 63 << 6 | 5), -1);
	/* Past the last possible page of the tree: must not wrap around modulo its size. */
	assert_int_equal(find(guest, 1 << 18 | 3 << 12 | 63 << 6 | 5), -1);
	assert_int_equal(find(guest, UINT64_MAX), -1);
	destroy(guest);
}

/* A folio of four pages takes one slot, and the next three point to that. */
static void large_folios_hold_several_pages(void **state)
{
	struct guest *guest = make(1 << 30);
	uint64_t leaf = add_node(guest, 0), top;

	(void)state;
	set_head(guest, NODE(leaf));
	set_slot(guest, leaf, 8, add_folio(guest, 0x104, 8));
	for (int i = 1; i < 4; i++)
		set_slot(guest, leaf, 8 + i, SIBLING(8));
	for (int i = 0; i < 4; i++)
		assert_int_equal(find(guest, 8 + i), 0x104 + i);
	assert_int_equal(find(guest, 12), -1);
	/* A folio of 64 pages, in a slot one level up. */
	top = add_node(guest, 6);
	set_head(guest, NODE(top));
	set_slot(guest, top, 2, add_folio(guest, 0x140, 128));
	assert_int_equal(find(guest, 128 + 63), 0x140 + 63);
	destroy(guest);
}

static void what_is_no_page_of_the_file_is_none(void **state)
{
	struct guest *guest = make(1 << 30);
	uint64_t leaf = add_node(guest, 0), folio = add_folio(guest, 0x100, 1);

	(void)state;
	set_head(guest, NODE(leaf));
	set_slot(guest, leaf, 1, VALUE(0x1234)); /* swapped out */
	assert_int_equal(find(guest, 1), -1);
	set_slot(guest, leaf, 1, SIBLING(1)); /* itself */
	assert_int_equal(find(guest, 1), -1);
	set_slot(guest, leaf, 1, folio);
	assert_int_equal(find(guest, 1), 0x100);
	put(guest, folio, 0); /* being read from disk */
	assert_int_equal(find(guest, 1), -1);
	put(guest, folio, UPTODATE);
	put(guest, folio + 24, FILE_AT + 0x100); /* reused for another file */
	assert_int_equal(find(guest, 1), -1);
	put(guest, folio + 24, FILE_AT);
	put(guest, folio + 32, 2); /* another page */
	assert_int_equal(find(guest, 1), -1);
	put(guest, folio + 32, 1);
	set_slot(guest, leaf, 1, folio + 8); /* inside a struct page */
	assert_int_equal(find(guest, 1), -1);
	set_slot(guest, leaf, 1, VMEMMAP - 64);
	assert_int_equal(find(guest, 1), -1);
	set_slot(guest, leaf, 1, MEMORY_BYTES); /* no memory there */
	assert_int_equal(find(guest, 1), -1);
	destroy(guest);
}

static void walks_end(void **state)
{
	struct guest *guest = make(1 << 30);
	uint64_t node = add_node(guest, 6), other = add_node(guest, 6), leaf = add_node(guest, 0);

	(void)state;
	set_head(guest, NODE(node));
	set_slot(guest, node, 0, NODE(node)); /* points to itself */
	assert_int_equal(find(guest, 0), -1);
	set_slot(guest, node, 0, NODE(other)); /* to one on its own level, and back */
	set_slot(guest, other, 0, NODE(node));
	assert_int_equal(find(guest, 0), -1);
	set_slot(guest, node, 0, NODE(leaf)); /* a node below the last level */
	set_slot(guest, leaf, 0, NODE(other));
	assert_int_equal(find(guest, 0), -1);
	guest->ram[node] = 64;
	assert_int_equal(find(guest, 0), -1);
	guest->ram[node] = 255;
	assert_int_equal(find(guest, 0), -1);
	destroy(guest);
}

static void files_are_read(void **state)
{
	struct guest *guest = make(100 * GUEST_PAGE_BYTES + 10);
	uint64_t top = add_node(guest, 6), leaves[2] = { add_node(guest, 0), add_node(guest, 0) };
	static uint8_t wanted[101 * GUEST_PAGE_BYTES], data[sizeof(wanted)];
	struct guest_cached_file file;

	(void)state;
	set_head(guest, NODE(top));
	for (int i = 0; i < 2; i++)
		set_slot(guest, top, i, NODE(leaves[i]));
	/* Consecutive pages of the file are not adjacent in memory. */
	for (unsigned int i = 0; i < 101; i++) {
		uint64_t frame = 0x100 + i * 37 % 101;

		set_slot(guest, leaves[i / 64], i % 64, add_folio(guest, frame, i));
		for (unsigned int byte = 0; byte < GUEST_PAGE_BYTES; byte++)
			wanted[i * GUEST_PAGE_BYTES + byte] = i * 7 + byte * 13 + byte / 256;
		memcpy(guest->ram + frame * GUEST_PAGE_BYTES, wanted + i * GUEST_PAGE_BYTES,
		       GUEST_PAGE_BYTES);
	}
	assert_true(guest_cached_file_open(&guest->cache, GVA(FILE_AT), &file));
	assert_int_equal(file.bytes, 100 * GUEST_PAGE_BYTES + 10);
	assert_true(guest_cached_file_read(&file, 0, data, file.bytes));
	assert_memory_equal(data, wanted, file.bytes);
	assert_true(guest_cached_file_read(&file, 4090, data, 66 * GUEST_PAGE_BYTES));
	assert_memory_equal(data, wanted + 4090, 66 * GUEST_PAGE_BYTES);
	assert_true(guest_cached_file_read(&file, file.bytes, data, 0));
	assert_false(guest_cached_file_read(&file, file.bytes, data, 1));
	assert_false(guest_cached_file_read(&file, 1, data, UINT64_MAX));
	assert_true(guest_cached_file_unchanged(&file));
	/* The guest drops a page, and fills another one with its contents. */
	set_slot(guest, leaves[1], 36, 0);
	assert_false(guest_cached_file_unchanged(&file));
	assert_false(guest_cached_file_read(&file, 100 * GUEST_PAGE_BYTES, data, 1));
	set_slot(guest, leaves[1], 36, add_folio(guest, 0x180, 100));
	assert_false(guest_cached_file_unchanged(&file));
	guest_cached_file_close(&file);
	destroy(guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_page_has_no_node),
		cmocka_unit_test(nodes_are_walked),
		cmocka_unit_test(large_folios_hold_several_pages),
		cmocka_unit_test(what_is_no_page_of_the_file_is_none),
		cmocka_unit_test(walks_end),
		cmocka_unit_test(files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
