/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64 page tables. The generic builder lays out tables by the rules of the Arm ARM's D8.2 (which
 * address bits index which level). Addresses and levels are checked for each granule and size that
 * Linux uses.
 */
#include "test.h"

#include "arch/tables.h"

struct layout {
	const char *name;
	int granule_shift;
	int bits;
	bool lpa2;
	uint64_t tcr_tg1, tcr_tg0;
	int shifts[5]; /* of the bits that index each level, from the top; 0 ends the list */
};

static const struct layout layouts[] = {
	{ "4K 39", 12, 39, false, 2, 0, { 30, 21, 12 } },
	{ "4K 48", 12, 48, false, 2, 0, { 39, 30, 21, 12 } },
	{ "4K 52", 12, 52, true, 2, 0, { 48, 39, 30, 21, 12 } },
	{ "16K 36", 14, 36, false, 1, 2, { 25, 14 } },
	{ "16K 47", 14, 47, false, 1, 2, { 36, 25, 14 } },
	{ "16K 48", 14, 48, false, 1, 2, { 47, 36, 25, 14 } },
	{ "16K 52", 14, 52, true, 1, 2, { 47, 36, 25, 14 } },
	{ "64K 42", 16, 42, false, 3, 1, { 29, 16 } },
	{ "64K 48", 16, 48, false, 3, 1, { 42, 29, 16 } },
	{ "64K 52", 16, 52, false, 3, 1, { 42, 29, 16 } },
};

static struct arch_mmu mmu_of(const struct layout *layout)
{
	uint64_t size = 64 - layout->bits;

	return (struct arch_mmu){
		.arch = &arch_arm64,
		.arm64 = { .ttbr0 = 0xabcd000000100000, /* with an ASID */
			   .ttbr1 = 0x0001000000100000,
			   .tcr = size | size << 16 | layout->tcr_tg0 << 14 | layout->tcr_tg1 << 30,
			   .lpa2 = layout->lpa2 },
	};
}

static uint64_t index_at(const struct layout *layout, int level, uint64_t address)
{
	int top = level ? layout->shifts[level - 1] : layout->bits;

	return address >> layout->shifts[level] & ((1ULL << (top - layout->shifts[level])) - 1);
}

/* The output address FRAME, encoded in a descriptor of this layout. */
static uint64_t encode(const struct layout *layout, uint64_t frame)
{
	if (layout->granule_shift == 16)
		return (frame & 0xffffffff0000) | (frame >> 48 & 15) << 12;
	if (layout->lpa2)
		return (frame & 0x3fffffffff000) | (frame >> 50 & 3) << 8;
	return frame;
}

/* Maps ADDRESS to FRAME with a descriptor LEVELS levels below the top. */
static void build(struct test_memory *memory, const struct layout *layout, uint64_t address,
		  uint64_t frame, int levels)
{
	uint64_t table = 0x100000;

	for (int level = 0; level < levels - 1; level++) {
		uint64_t next = table + 0x100000;

		test_memory_put64(memory, table + 8 * index_at(layout, level, address),
				  encode(layout, next) | 3);
		table = next;
	}
	test_memory_put64(memory, table + 8 * index_at(layout, levels - 1, address),
			  encode(layout, frame) | (layout->shifts[levels] ? 1 : 3) | 1 << 10);
}

static int level_count(const struct layout *layout)
{
	int count = 0;

	while (count < 5 && layout->shifts[count])
		count++;
	return count;
}

static void walks_every_layout(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		const struct layout *layout = &layouts[i];
		struct arch_mmu mmu = mmu_of(layout);
		uint64_t top = layout->bits == 64 ? 0 : ~0ULL << layout->bits;
		uint64_t kernel = top | (0x5a5a5a5a5a5a5a5aULL & ~top);
		uint64_t high = layout->lpa2 || layout->granule_shift == 16 ? 0xd000000000000 : 0;
		uint64_t frame = high | 0x000012340000;
		uint64_t page = 1ULL << layout->granule_shift;
		struct test_memory memory = { 0 };

		print_message("%s\n", layout->name);
		build(&memory, layout, kernel, frame, level_count(layout));
		assert_maps(&memory, &mmu, kernel, frame | (kernel & (page - 1)), page);
		/* The lower half uses TTBR0, which points to the same tables here. */
		assert_maps(&memory, &mmu, kernel & ~top, frame | (kernel & (page - 1)), page);
		assert_walk(&memory, &mmu, kernel ^ page, ARCH_WALK_NOT_MAPPED);
		if (layout->bits < 52)
			assert_walk(&memory, &mmu, kernel & ~(1ULL << layout->bits),
				    ARCH_WALK_BAD_ADDRESS);
	}
}

static void blocks_are_pages_of_their_level(void **state)
{
	static const struct {
		int layout, levels;
		uint64_t bytes;
	} rows[] = { { 1, 2, 1 << 30 }, { 1, 3, 1 << 21 }, { 4, 2, 1 << 25 }, { 8, 2, 1 << 29 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct layout *layout = &layouts[rows[i].layout];
		struct arch_mmu mmu = mmu_of(layout);
		struct test_memory memory = { 0 };
		uint64_t address = 0x123456789abc & ((1ULL << layout->bits) - 1);
		uint64_t frame = 0x40000000;

		build(&memory, layout, address, frame, rows[i].levels);
		assert_maps(&memory, &mmu, address, frame | (address & (rows[i].bytes - 1)),
			    rows[i].bytes);
	}
}

static void top_byte_may_be_a_tag(void **state)
{
	const struct layout *layout = &layouts[1];
	struct arch_mmu mmu = mmu_of(layout);
	struct test_memory memory = { 0 };

	(void)state;
	build(&memory, layout, 0x123456789000, 0x40000000, 4);
	assert_walk(&memory, &mmu, 0x5a00123456789000, ARCH_WALK_BAD_ADDRESS);
	mmu.arm64.tcr |= 1ULL << 37;
	assert_maps(&memory, &mmu, 0x5a00123456789000, 0x40000000, 1 << 12);
}

static void last_level_wants_pages(void **state)
{
	const struct layout *layout = &layouts[0];
	struct arch_mmu mmu = mmu_of(layout);
	struct test_memory memory = { 0 };

	(void)state;
	build(&memory, layout, 0, 0x40000000, 3);
	assert_maps(&memory, &mmu, 0, 0x40000000, 1 << 12);
	test_memory_put64(&memory, 0x300000, 0x40000401); /* a block where none is allowed */
	assert_walk(&memory, &mmu, 0, ARCH_WALK_NOT_MAPPED);
	mmu.arm64.tcr |= 3 << 14; /* no such granule */
	assert_walk(&memory, &mmu, 0, ARCH_WALK_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_every_layout),
		cmocka_unit_test(blocks_are_pages_of_their_level),
		cmocka_unit_test(top_byte_may_be_a_tag),
		cmocka_unit_test(last_level_wants_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
