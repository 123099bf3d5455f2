/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which executable mappings a sampler copies from a guest's memory: from a maple tree by the rules
 * of include/linux/maple_tree.h (what is behind a node's last pivot is stale), from a list, and
 * from trees and lists that a guest has built to be followed for ever.
 */
#include <stdbool.h>
#include <string.h>

#include "test.h"

#define MEMORY_BYTES (1 << 20)

static uint8_t memory[MEMORY_BYTES]; /* the guest's, from gpa 0 on; hva is gpa + 1 page */
static unsigned int reads;

struct sampler_vm;
static bool read_hva(struct sampler_vm *vm, uint64_t hva, void *data, uint32_t size);

static bool knows_sp_and_cr3(void)
{
	return true;
}

static bool copies_whole_stacks(void)
{
	return false;
}

static uint32_t max_user_bytes(struct sampler_vm *vm)
{
	(void)vm;
	return 0;
}

#define __noinline static __attribute__((unused))
#pragma GCC diagnostic ignored "-Wunused-function" /* those for stacks */
#include "bpf/stacks_in_use.h"
#include "bpf/guest_areas.h"

#define HVA_BASE PAGE_BYTES
#define KERNEL 0xffffc90000000000ULL /* maps all memory, with a single page of 1 GiB */
#define TABLES 0x1000
#define MM (KERNEL + 0x10000)
#define NODES (KERNEL + 0x20000)
#define AREAS (KERNEL + 0x40000)
#define FILES (KERNEL + 0x80000)
enum { TREE = 8, LIST = 16, VDSO = 24 };			       /* in an mm */
enum { START, END = 8, NEXT = 16, FLAGS = 24, PAGE = 32, FILE_AT = 40, PRIVATE = 48, AREA = 64 };
enum { CONTENTS = 0, DENTRY = 8, MOUNT = 16, INODE = 24 };	       /* in a file */
enum { HOST = 32, NUMBER = 40, GENERATION = 48 };		       /* in what it points to */
enum { RANGE_PIVOT = 1, RANGE_SLOT = 16, WIDE_PIVOT = 1, WIDE_SLOT = 10 }; /* words in a node */
#define MOST_READS 20000 /* that a hostile guest can cause */

static struct sampler_vm vm;
static struct areas_scratch scratch;

static bool read_hva(struct sampler_vm *of, uint64_t hva, void *data, uint32_t size)
{
	(void)of;
	reads++;
	if (hva < HVA_BASE || hva - HVA_BASE > MEMORY_BYTES - size)
		return false;
	memcpy(data, memory + (hva - HVA_BASE), size);
	return true;
}

static void put(uint64_t gva, uint64_t value)
{
	memcpy(memory + (gva - KERNEL), &value, sizeof(value));
}

static int begin(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	put(KERNEL + TABLES + 8 * (KERNEL >> 39 & 511), (TABLES + 0x1000) | PAGE_PRESENT);
	put(KERNEL + TABLES + 0x1000, PAGE_LARGE | PAGE_PRESENT);
	vm = (struct sampler_vm){
		.current = { .page_tables = TABLES,
			     .levels = 4,
			     .areas = { .tree = TREE,
					.list = LIST,
					.vdso_image = VDSO,
					.area_start = START,
					.area_end = END,
					.area_flags = FLAGS,
					.area_page = PAGE,
					.area_file = FILE_AT,
					.area_next = NEXT,
					.area_private = PRIVATE,
					.file_contents = CONTENTS,
					.file_dentry = DENTRY,
					.file_mount = MOUNT,
					.file_inode = INODE,
					.contents_inode = HOST,
					.inode_number = NUMBER,
					.inode_generation = GENERATION,
					.range_pivot = RANGE_PIVOT,
					.range_slot = RANGE_SLOT,
					.range_slots = 16,
					.wide_pivot = WIDE_PIVOT,
					.wide_slot = WIDE_SLOT,
					.wide_slots = 10 } },
		.slot_count = 1,
		.slots = { { 0, MEMORY_BYTES, HVA_BASE } },
	};
	put(MM + VDSO, 0x7d50);
	reads = 0;
	return 0;
}

/* Area NUMBER has the pages from NUMBER on; FILE: its file's number, 0: none. */
static uint64_t area(unsigned int number, bool executable, unsigned int file)
{
	uint64_t at = AREAS + number * AREA, its = FILES + file * 64;

	put(at + START, (uint64_t)number << 12);
	put(at + END, (uint64_t)(number + 1) << 12);
	put(at + FLAGS, executable ? 5 : 3);
	put(at + PAGE, number + 100);
	put(at + PRIVATE, number + 200);
	if (!file)
		return at;
	put(at + FILE_AT, its);
	put(its + CONTENTS, its); /* one object is all that a file consists of */
	put(its + DENTRY, file + 300);
	put(its + MOUNT, file + 400);
	put(its + INODE, file + 500);
	put(its + HOST, its);
	put(its + NUMBER, file + 600);
	put(its + GENERATION, file + 700);
	return at;
}

static uint64_t node(unsigned int number, unsigned int type)
{
	return (NODES + number * 256) | type << 3 | 4;
}

static void slot(uint64_t encoded, unsigned int index, uint64_t pivot, uint64_t entry)
{
	uint64_t at = encoded & ~NODE_MASK;
	bool wide = NODE_TYPE(encoded) == NODE_WIDE_64;

	if (index < (wide ? 9 : 15))
		put(at + 8 * ((wide ? WIDE_PIVOT : RANGE_PIVOT) + index), pivot);
	put(at + 8 * ((wide ? WIDE_SLOT : RANGE_SLOT) + index), entry);
}

static bool has(unsigned int number)
{
	for (unsigned int i = 0; i < scratch.areas.count; i++)
		if (scratch.areas.items[i].start == (uint64_t)number << 12)
			return true;
	return false;
}

static void from_a_tree(void **state)
{
	uint64_t root = node(0, NODE_WIDE_64), left = node(1, NODE_LEAF_64),
		 right = node(2, NODE_LEAF_64);
	const struct sampler_area *first;

	(void)state;
	put(MM + TREE, root | 2);
	slot(root, 0, 0xffff, left);
	slot(root, 1, ~0ull, right);
	slot(root, 2, ~0ull, node(3, NODE_LEAF_64)); /* stale */
	slot(left, 0, 0x1fff, area(1, true, 1));
	slot(left, 1, 0x2fff, area(2, false, 1));
	slot(left, 2, 0xffff, 0);
	slot(left, 3, 0xfffff, area(3, true, 1)); /* stale: the node has ended */
	slot(right, 0, 0x11fff, area(17, true, 0));
	slot(right, 1, 0, area(18, true, 2)); /* up to the node's maximum */
	slot(right, 2, 0x14fff, area(4, true, 1)); /* stale */
	assert_true(take_areas(&scratch, &vm, MM));
	assert_int_equal(scratch.areas.count, 3);
	assert_true(has(1) && has(17) && has(18));
	assert_int_equal(scratch.areas.vdso_image, 0x7d50);
	first = &scratch.areas.items[scratch.areas.items[0].start == 0x1000 ? 0 : 2];
	assert_int_equal(first->end, 0x2000);
	assert_int_equal(first->page, 101);
	assert_int_equal(first->contents, FILES + 64);
	assert_int_equal(first->dentry, 301);
	assert_int_equal(first->mount, 401);
	assert_int_equal(first->inode, 501);
	assert_int_equal(first->inode_number, 601);
	assert_int_equal(first->inode_generation, 701);
}

static void from_a_list(void **state)
{
	(void)state;
	vm.current.areas.tree = 0;
	put(MM + LIST, area(1, true, 1));
	put(AREAS + 1 * AREA + NEXT, area(5, false, 0));
	put(AREAS + 5 * AREA + NEXT, area(7, true, 0));
	assert_true(take_areas(&scratch, &vm, MM));
	assert_int_equal(scratch.areas.count, 2);
	assert_true(has(1) && has(7));
	assert_int_equal(scratch.areas.items[1].contents, 0);
	assert_int_equal(scratch.areas.items[1].private_data, 207);
}

static void too_many_executable_ones(void **state)
{
	(void)state;
	vm.current.areas.tree = 0;
	put(MM + LIST, area(1, true, 0));
	for (unsigned int i = 1; i <= SAMPLER_AREAS; i++)
		put(AREAS + i * AREA + NEXT, area(i + 1, true, 0));
	assert_false(take_areas(&scratch, &vm, MM));
}

static void a_list_without_end(void **state)
{
	(void)state;
	vm.current.areas.tree = 0;
	put(MM + LIST, area(1, false, 0));
	put(AREAS + 1 * AREA + NEXT, AREAS + 1 * AREA);
	assert_false(take_areas(&scratch, &vm, MM));
	assert_in_range(reads, 1, MOST_READS);
}

/* Each slot of a node is the node itself, so there are more with each one that is taken. */
static void a_tree_without_end(void **state)
{
	uint64_t root = node(0, NODE_RANGE_64);

	(void)state;
	put(MM + TREE, root | 2);
	for (unsigned int i = 0; i < 16; i++)
		slot(root, i, (i + 1) * 0x1000, root | 2);
	assert_false(take_areas(&scratch, &vm, MM));
	assert_in_range(reads, 1, MOST_READS);
	/* one child alone, for ever deeper */
	slot(root, 0, ~0ull, root | 2);
	assert_false(take_areas(&scratch, &vm, MM));
	assert_in_range(reads, 1, MOST_READS);
}

static void words_that_are_no_nodes(void **state)
{
	static const uint64_t roots[] = { 2, 6, 0x1000, ~0ull, ~0ull - 1, KERNEL | 2 | 7 << 3,
					  (KERNEL + MEMORY_BYTES) | 2 | NODE_RANGE_64 << 3 };

	(void)state;
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		put(MM + TREE, roots[i]);
		take_areas(&scratch, &vm, MM);
		assert_int_equal(scratch.areas.count, 0);
	}
	assert_in_range(reads, 1, MOST_READS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(from_a_tree, begin),
		cmocka_unit_test_setup(from_a_list, begin),
		cmocka_unit_test_setup(too_many_executable_ones, begin),
		cmocka_unit_test_setup(a_list_without_end, begin),
		cmocka_unit_test_setup(a_tree_without_end, begin),
		cmocka_unit_test_setup(words_that_are_no_nodes, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
