/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Radix trees as Linux builds them with 64 KiB pages: 13, 9, 9, 5 bits of 52 (radix.h). */
#include "test.h"

#include "arch/tables.h"

#define PROCESS_TABLE 0x10000
#define VALID (1ULL << 63)
#define LEAF (1ULL << 62)

static void put(struct test_memory *memory, uint64_t gpa, uint64_t value)
{
	test_memory_put64(memory, gpa, __builtin_bswap64(value));
}

/* RTS is 52 - 31 = 21 = 0b10101: its upper two bits are at 62:61, the lower three at 7:5. */
static uint64_t root(uint64_t table)
{
	return 2ULL << 61 | 5ULL << 5 | table | 13;
}

static void build(struct test_memory *memory, int pid, uint64_t address, uint64_t leaf)
{
	put(memory, PROCESS_TABLE + 16 * pid, root(0x100000));
	put(memory, 0x100000 + 8 * (address >> 39 & 0x1fff), VALID | 0x200000 | 9);
	put(memory, 0x200000 + 8 * (address >> 30 & 0x1ff), VALID | 0x300000 | 9);
	put(memory, 0x300000 + 8 * (address >> 21 & 0x1ff), VALID | 0x400000 | 5);
	put(memory, 0x400000 + 8 * (address >> 16 & 0x1f), leaf);
}

static struct arch_mmu radix(uint32_t pid)
{
	return (struct arch_mmu){ .arch = &arch_ppc64,
				  .ppc64 = { .process_table = PROCESS_TABLE | 4,
					     .pid = pid,
					     .radix = true } };
}

static void walks_user_and_kernel(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = radix(7);
	struct arch_mapping mapping;

	(void)state;
	build(&memory, 7, 0x7fff12345678, VALID | LEAF | 0x56780000 | 7);
	assert_maps(&memory, &mmu, 0x7fff12345678, 0x56785678, 1 << 16);
	assert_int_equal(test_walk(&memory, &mmu, 0x7fff12345678, &mapping), ARCH_WALK_OK);
	assert_true(mapping.user && mapping.writable && mapping.executable);
	/* vmalloc space is quadrant 3: PID 0, privileged. */
	build(&memory, 0, 0xc008000000123456, VALID | LEAF | 0x9990000 | 0xe);
	assert_maps(&memory, &mmu, 0xc008000000123456, 0x9993456, 1 << 16);
	assert_int_equal(test_walk(&memory, &mmu, 0xc008000000123456, &mapping), ARCH_WALK_OK);
	assert_true(!mapping.user && mapping.writable && !mapping.executable);
	assert_walk(&memory, &mmu, 0x7fff12355678, ARCH_WALK_NOT_MAPPED);
	assert_walk(&memory, &mmu, 0x4000000000000000, ARCH_WALK_BAD_ADDRESS);
	assert_walk(&memory, &mmu, 0x0010000000000000, ARCH_WALK_BAD_ADDRESS);
}

static void large_pages_end_early(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = radix(1);

	(void)state;
	build(&memory, 1, 0x10000000, VALID | LEAF | 7);
	put(&memory, 0x300000 + 8 * (0x10200000 >> 21 & 0x1ff), VALID | LEAF | 0x40000000 | 7);
	assert_maps(&memory, &mmu, 0x10212345, 0x40012345, 1 << 21);
}

static void linear_map_needs_no_table(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = { .arch = &arch_ppc64 };

	(void)state;
	assert_maps(&memory, &mmu, 0xc000000001234567, 0x1234567, 1 << 16);
	/* A hash guest's other addresses cannot be translated, and the walk reports that. */
	assert_walk(&memory, &mmu, 0x10000000, ARCH_WALK_UNSUPPORTED);
	assert_walk(&memory, &mmu, 0xc008000000000000, ARCH_WALK_UNSUPPORTED);
}

static void broken_trees_end(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = radix(1);

	(void)state;
	build(&memory, 1, 0, VALID | LEAF | 7);
	put(&memory, 0x300000, VALID | 0x400000 | 31);
	assert_walk(&memory, &mmu, 0, ARCH_WALK_UNSUPPORTED);
	put(&memory, 0x300000, VALID | 0x400000 | 0);
	assert_walk(&memory, &mmu, 0, ARCH_WALK_UNSUPPORTED);
	put(&memory, 0x100000, VALID | 0x100000 | 1); /* one bit per level, pointing to itself */
	assert_walk(&memory, &mmu, 0, ARCH_WALK_NOT_MAPPED);
	mmu.ppc64.process_table = 0xdead0000;
	assert_walk(&memory, &mmu, 0, ARCH_WALK_UNREADABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_user_and_kernel),
		cmocka_unit_test(large_pages_end_early),
		cmocka_unit_test(linear_map_needs_no_table),
		cmocka_unit_test(broken_trees_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
