/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page tables of a kernel below 1 MiB, in memory laid out as by Linux. */
#include "test.h"

#include <string.h>

#include "guest/kernel/kernel_search.h"
#include "guest/memory/space.h"

#define LARGE (2ULL << 20)
#define MEMORY_BYTES (6 * LARGE)
#define TRAMPOLINE 0x9c000ULL
#define IMAGE_GPA LARGE /* text, then data: a large page each */
#define DATA_GPA (IMAGE_GPA + LARGE)
#define IMAGE 0xffffffff81000000ULL
#define OTHER_GPA (4 * LARGE) /* of a second kernel, laid out the same way */
#define TABLE 0x63ULL
#define TEXT_PAGE 0xe1ULL
#define DATA_PAGE (0xe3ULL | 1ULL << 63)
#define CR4_LA57 0x1000
/* In the data of an image. */
#define LEVEL4 0x5000
#define LEVEL3 0x6000
#define LEVEL2 0x7000

static uint8_t ram[MEMORY_BYTES];
static size_t pages_read;

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	(void)context;
	pages_read += count;
	for (size_t i = 0; i < count; i++) {
		assert_true(from[i].value <= MEMORY_BYTES - GUEST_PAGE_BYTES);
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, ram + from[i].value,
		       GUEST_PAGE_BYTES);
	}
	return true;
}

static void put_entry(uint64_t table, size_t index, uint64_t entry)
{
	memcpy(ram + table + 8 * index, &entry, sizeof(entry));
}

/* A kernel at GPA whose trampoline tables for starting CPUs are at TRAMPOLINE_GPA. */
static void put_kernel(uint64_t gpa, uint64_t trampoline_gpa, int levels)
{
	uint64_t data = gpa + LARGE, first = data + (levels == 5 ? LEVEL4 : LEVEL3);

	put_entry(trampoline_gpa, 511, first | TABLE);
	put_entry(data + LEVEL4, 511, (data + LEVEL3) | TABLE);
	put_entry(data + LEVEL3, 510, (data + LEVEL2) | TABLE);
	put_entry(data + LEVEL2, 8, gpa | TEXT_PAGE);
	put_entry(data + LEVEL2, 9, data | DATA_PAGE);
}

static struct arch_mmu unknown(int levels)
{
	return (struct arch_mmu){ .arch = &arch_x86_64,
				  .x86 = { .cr0 = 0x80050033,
					   .cr4 = levels == 5 ? 0x6b0 | CR4_LA57 : 0x6b0,
					   .efer = 0xd01 } };
}

/* Searches all of RAM; 0 if nothing is found. */
static uint64_t search(int levels)
{
	static const struct guest_memory_source source = { read_pages, NULL };
	static const struct guest_slot slot = { { 0 }, MEMORY_BYTES };
	_cleanup_guest_memory_ struct guest_memory *memory =
		guest_memory_create(&source, &slot, 1, MEMORY_BYTES);
	struct arch_mmu mmu = unknown(levels);
	struct error *error;

	pages_read = 0;
	error = guest_kernel_search(memory, &mmu);
	if (!error)
		return mmu.x86.cr3;
	assert_int_equal(error_code(error), ERROR_NOT_FOUND);
	assert_int_equal(mmu.x86.cr3, 0);
	error_destroy(error);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	memset(ram, 0, sizeof(ram));
	return 0;
}

static void it_is_wanted_where_cr3_is_not_known(void **state)
{
	struct arch_mmu mmu = unknown(4);

	(void)state;
	assert_true(guest_kernel_search_wanted(&mmu));
	mmu.x86.cr3 = 0x1000;
	assert_false(guest_kernel_search_wanted(&mmu));
	mmu = unknown(4);
	mmu.x86.cr0 = 0x10; /* a vCPU that was reset, or never started */
	assert_false(guest_kernel_search_wanted(&mmu));
	mmu = unknown(4);
	mmu.x86.efer = 0; /* 32-bit */
	assert_false(guest_kernel_search_wanted(&mmu));
	mmu = unknown(4);
	mmu.arch = &arch_arm64;
	assert_false(guest_kernel_search_wanted(&mmu));
}

static void tables_of_either_depth_are_found(void **state)
{
	(void)state;
	for (int levels = 4; levels <= 5; levels++) {
		memset(ram, 0, sizeof(ram));
		put_kernel(IMAGE_GPA, TRAMPOLINE, levels);
		assert_int_equal(search(levels), TRAMPOLINE);
		assert_int_equal(search(levels == 4 ? 5 : 4), 0);
	}
}

static void only_the_first_megabyte_is_read(void **state)
{
	(void)state;
	assert_int_equal(search(4), 0);
	assert_int_equal(pages_read, 256);
	put_kernel(IMAGE_GPA, 1 << 20, 4);
	assert_int_equal(search(4), 0);
	put_kernel(IMAGE_GPA, (1 << 20) - GUEST_PAGE_BYTES, 4);
	assert_int_equal(search(4), (1 << 20) - GUEST_PAGE_BYTES);
	assert_in_range(pages_read, 256, 260);
}

/* Tables that map something, but not an image that contains them. */
static void what_is_similar_is_passed_over(void **state)
{
	(void)state;
	put_kernel(IMAGE_GPA, TRAMPOLINE, 4);
	put_entry(DATA_GPA + LEVEL2, 9, 0); /* the image ends before the tables */
	assert_int_equal(search(4), 0);
	put_entry(DATA_GPA + LEVEL2, 9, OTHER_GPA | DATA_PAGE); /* it is not contiguous */
	assert_int_equal(search(4), 0);
	put_entry(DATA_GPA + LEVEL2, 9, DATA_GPA | DATA_PAGE);
	put_entry(DATA_GPA + LEVEL2, 8, OTHER_GPA | TEXT_PAGE); /* it begins after them */
	assert_int_equal(search(4), 0);
	put_entry(DATA_GPA + LEVEL2, 8, IMAGE_GPA | TEXT_PAGE);
	put_entry(TRAMPOLINE, 511, 0xfee00000 | TABLE); /* there is no memory */
	assert_int_equal(search(4), 0);
	put_entry(TRAMPOLINE, 511, (DATA_GPA + LEVEL3) | (TABLE & ~1ULL)); /* not present */
	assert_int_equal(search(4), 0);
	put_entry(TRAMPOLINE, 511, (DATA_GPA + LEVEL3) | TABLE | 0x80); /* a large page */
	assert_int_equal(search(4), 0);
	put_entry(TRAMPOLINE, 511, (DATA_GPA + LEVEL3) | TABLE);
	assert_int_equal(search(4), TRAMPOLINE);
}

static void an_image_begins_on_2_mb(void **state)
{
	(void)state;
	put_kernel(IMAGE_GPA, TRAMPOLINE, 4);
	/* With 4 KiB pages, all of it may be contiguous elsewhere. */
	put_entry(DATA_GPA + LEVEL2, 8, (DATA_GPA + 0x8000) | TABLE);
	put_entry(DATA_GPA + LEVEL2, 9, 0);
	for (size_t i = 0; i < 512; i++)
		put_entry(DATA_GPA + 0x8000, i, (IMAGE_GPA + 0x1ff000 + i * 0x1000) | TABLE);
	assert_int_equal(search(4), 0);
	for (size_t i = 0; i < 512; i++)
		put_entry(DATA_GPA + 0x8000, i, (IMAGE_GPA + i * 0x1000) | TABLE);
	put_entry(DATA_GPA + LEVEL2, 9, DATA_GPA | DATA_PAGE);
	assert_int_equal(search(4), TRAMPOLINE);
}

static void of_two_kernels_none_is_taken(void **state)
{
	(void)state;
	put_kernel(IMAGE_GPA, TRAMPOLINE, 4);
	put_kernel(OTHER_GPA, TRAMPOLINE - 0x3000, 4);
	assert_int_equal(search(4), 0);
	/* The same kernel found twice counts once. */
	put_kernel(IMAGE_GPA, TRAMPOLINE - 0x3000, 4);
	assert_true(search(4) == TRAMPOLINE || search(4) == TRAMPOLINE - 0x3000);
}

/* Each page below 1 MiB looks like a table that maps far too much. */
static void a_hostile_guest_costs_little(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 1 << 20; at += GUEST_PAGE_BYTES)
		for (size_t i = 0; i < 512; i++)
			put_entry(at, i, ((at + (i + 1) * GUEST_PAGE_BYTES) & 0xff000) | TABLE);
	assert_int_equal(search(5), 0);
	assert_int_equal(pages_read, 256);
	assert_int_equal(search(4), 0);
	/* Page 0 is never the answer, either. */
	memset(ram, 0, sizeof(ram));
	put_kernel(IMAGE_GPA, 0, 4);
	assert_int_equal(search(4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_wanted_where_cr3_is_not_known),
		cmocka_unit_test_setup(tables_of_either_depth_are_found, begin),
		cmocka_unit_test_setup(only_the_first_megabyte_is_read, begin),
		cmocka_unit_test_setup(what_is_similar_is_passed_over, begin),
		cmocka_unit_test_setup(an_image_begins_on_2_mb, begin),
		cmocka_unit_test_setup(of_two_kernels_none_is_taken, begin),
		cmocka_unit_test_setup(a_hostile_guest_costs_little, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
