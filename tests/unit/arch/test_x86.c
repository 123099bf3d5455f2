/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page tables built by hand, entry by entry, from figures 4-1 to 4-12 of the SDM. */
#include "test.h"

#include "arch/tables.h"

#define PAE_LONG_MODE 0x20
#define LA57 0x1000
#define LMA 0x400

static struct arch_mmu long_mode(uint64_t cr3, uint64_t cr4)
{
	return (struct arch_mmu){
		.arch = &arch_x86_64,
		.x86 = { .cr0 = 0x80050033, .cr3 = cr3, .cr4 = cr4, .efer = 0xd01 }
	};
}

/* 0xffffffff81234567: indices 511, 510, 9, 52 from the top, offset 0x567. */
static void build_four_levels(struct test_memory *memory)
{
	test_memory_put64(memory, 0x1000 + 8 * 511, 0x2063);
	test_memory_put64(memory, 0x2000 + 8 * 510, 0x3063);
	test_memory_put64(memory, 0x3000 + 8 * 9, 0x4063);
	test_memory_put64(memory, 0x4000 + 8 * 52, 0x0000123456789163);
	/* 2 MiB at index 10: 0xffffffff81400000; 1 GiB at index 511: 0xffffffffc0000000. */
	test_memory_put64(memory, 0x3000 + 8 * 10, 0x80000000076001e3);
	test_memory_put64(memory, 0x2000 + 8 * 511, 0x00000001c00001e1);
}

static void walks_four_levels(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = long_mode(0x1000, PAE_LONG_MODE);

	(void)state;
	build_four_levels(&memory);
	assert_maps(&memory, &mmu, 0xffffffff81234567, 0x0000123456789567, 1 << 12);
	assert_maps(&memory, &mmu, 0xffffffff81412345, 0x7612345, 1 << 21);
	assert_maps(&memory, &mmu, 0xffffffffdeadbeef, 0x1deadbeef, 1 << 30);
	assert_walk(&memory, &mmu, 0xffffffff81235000, ARCH_WALK_NOT_MAPPED);
	assert_walk(&memory, &mmu, 0x400000, ARCH_WALK_NOT_MAPPED);
	assert_walk(&memory, &mmu, 0x0000800000000000, ARCH_WALK_BAD_ADDRESS);
	assert_walk(&memory, &mmu, 0xff7fffffffffffff, ARCH_WALK_BAD_ADDRESS);
}

static void masks_pcid_and_lam(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = long_mode(0x6000000000001abc, PAE_LONG_MODE);

	(void)state;
	build_four_levels(&memory);
	assert_maps(&memory, &mmu, 0xffffffff81234567, 0x0000123456789567, 1 << 12);
	/* Bit 63 of CR3 means "do not flush" in a MOV; a saved CR3 may have it set. */
	mmu.x86.cr3 |= 1ULL << 63;
	assert_maps(&memory, &mmu, 0xffffffff81234567, 0x0000123456789567, 1 << 12);
}

static void five_levels_are_not_four(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = long_mode(0x9000, PAE_LONG_MODE | LA57);

	(void)state;
	build_four_levels(&memory);
	test_memory_put64(&memory, 0x9000 + 8 * 511, 0x1063);
	assert_maps(&memory, &mmu, 0xffffffff81234567, 0x0000123456789567, 1 << 12);
	/* 0x00ff…: bits 56:48 are index 255. */
	test_memory_put64(&memory, 0x9000 + 8 * 255, 0x1067);
	assert_maps(&memory, &mmu, 0x00ffffff81234567, 0x0000123456789567, 1 << 12);
	assert_walk(&memory, &mmu, 0x0100000000000000, ARCH_WALK_BAD_ADDRESS);
	/*
	 * Reading the same tables with four levels does not fail by itself, so LA57 must be right.
	 */
	mmu.x86.cr4 = PAE_LONG_MODE;
	assert_walk(&memory, &mmu, 0xffffffff81234567, ARCH_WALK_NOT_MAPPED);
}

static void rights_narrow_level_by_level(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = long_mode(0x1000, PAE_LONG_MODE);
	struct arch_mapping mapping;

	(void)state;
	test_memory_put64(&memory, 0x1000, 0x2007);
	test_memory_put64(&memory, 0x2000, 0x3005); /* not writable from here down */
	test_memory_put64(&memory, 0x3000, 0x4007);
	test_memory_put64(&memory, 0x4008, 0x5007);
	test_memory_put64(&memory, 0x4010, 0x8000000000006003);
	assert_int_equal(test_walk(&memory, &mmu, 0x1000, &mapping), ARCH_WALK_OK);
	assert_true(mapping.user && !mapping.writable && mapping.executable);
	assert_int_equal(test_walk(&memory, &mmu, 0x2000, &mapping), ARCH_WALK_OK);
	assert_true(!mapping.user && !mapping.writable && !mapping.executable);
}

static void tables_that_loop_end(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = long_mode(0x1000, PAE_LONG_MODE);

	(void)state;
	for (int i = 0; i < 512; i++)
		test_memory_put64(&memory, 0x1000 + 8 * i, 0x1063);
	/* A table that points to itself maps itself: that is legal, and finite. */
	assert_maps(&memory, &mmu, 0x123456789abc, 0x1abc, 1 << 12);
	/* A table at an address without memory. */
	test_memory_put64(&memory, 0x1000, 0xfffffffff063);
	assert_walk(&memory, &mmu, 0x123, ARCH_WALK_UNREADABLE);
	mmu.x86.cr3 = 0xabcdef000;
	assert_walk(&memory, &mmu, 0x123, ARCH_WALK_UNREADABLE);
}

static void walks_32_bits(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = { .arch = &arch_i386, .x86 = { .cr0 = 0x80000011, .cr3 = 0x1000 } };
	uint32_t table = 0x2067, page = 0x00abc067, large = 0x00c420e3;

	(void)state;
	/* 0xc0123456: directory 768, table 291. */
	test_memory_put(&memory, 0x1000 + 4 * 768, &table, 4);
	test_memory_put(&memory, 0x2000 + 4 * 291, &page, 4);
	/* 0xc0400000, 4 MiB: frame bits 39:32 are 0x21, in bits 20:13. */
	test_memory_put(&memory, 0x1000 + 4 * 769, &large, 4);
	assert_maps(&memory, &mmu, 0xc0123456, 0xabc456, 1 << 12);
	mmu.x86.cr4 = 0x10;
	assert_maps(&memory, &mmu, 0xc0412345, 0x2100c12345, 1 << 22);
	assert_walk(&memory, &mmu, 0x100000000, ARCH_WALK_BAD_ADDRESS);
	mmu.x86.cr0 = 0x11;
	assert_maps(&memory, &mmu, 0xc0123456, 0xc0123456, 1 << 12);
}

static void walks_pae(void **state)
{
	struct test_memory memory = { 0 };
	struct arch_mmu mmu = { .arch = &arch_i386,
				.x86 = { .cr0 = 0x80000011, .cr3 = 0x1fe0, .cr4 = 0x30 } };

	(void)state;
	/* 0xc0123456: pointer 3, directory 0, table 291. CR3 is 32-byte aligned. */
	test_memory_put64(&memory, 0x1fe0 + 8 * 3, 0x3001);
	test_memory_put64(&memory, 0x3000, 0x4067);
	test_memory_put64(&memory, 0x4000 + 8 * 291, 0x8000000f23456067);
	test_memory_put64(&memory, 0x3008, 0x00000001234000e7);
	assert_maps(&memory, &mmu, 0xc0123abc, 0xf23456abc, 1 << 12);
	assert_maps(&memory, &mmu, 0xc0312345, 0x123512345, 1 << 21);
	/* A 64-bit CPU that has not entered long mode walks the same way. */
	mmu.arch = &arch_x86_64;
	assert_maps(&memory, &mmu, 0xc0123abc, 0xf23456abc, 1 << 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_four_levels),
		cmocka_unit_test(masks_pcid_and_lam),
		cmocka_unit_test(five_levels_are_not_four),
		cmocka_unit_test(rights_narrow_level_by_level),
		cmocka_unit_test(tables_that_loop_end),
		cmocka_unit_test(walks_32_bits),
		cmocka_unit_test(walks_pae),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
