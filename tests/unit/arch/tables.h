/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest physical memory for tests: pages come into existence when they are written. */
#ifndef TESTS_ARCH_TABLES_H
#define TESTS_ARCH_TABLES_H

#include <string.h>

#include "arch/arch.h"

#define TEST_PAGES 64

struct test_memory {
	struct {
		uint64_t gpa;
		uint8_t bytes[4096];
	} pages[TEST_PAGES];
	size_t page_count;
	unsigned int reads; /* by walks */
};

static inline uint8_t *test_memory_page(struct test_memory *memory, uint64_t gpa)
{
	for (size_t i = 0; i < memory->page_count; i++)
		if (memory->pages[i].gpa == (gpa & ~4095ULL))
			return memory->pages[i].bytes;
	return NULL;
}

static inline void test_memory_put(struct test_memory *memory, uint64_t gpa, const void *data,
				   size_t size)
{
	uint8_t *page = test_memory_page(memory, gpa);

	if (!page) {
		assert_true(memory->page_count < TEST_PAGES);
		memory->pages[memory->page_count].gpa = gpa & ~4095ULL;
		page = memory->pages[memory->page_count++].bytes;
		memset(page, 0, 4096);
	}
	memcpy(page + (gpa & 4095), data, size);
}

static inline void test_memory_put64(struct test_memory *memory, uint64_t gpa, uint64_t value)
{
	test_memory_put(memory, gpa, &value, sizeof(value));
}

static inline bool test_memory_read(void *context, struct gpa from, void *data, size_t size)
{
	struct test_memory *memory = context;
	uint8_t *page = test_memory_page(memory, from.value);

	memory->reads++;
	if (!page || (from.value & 4095) + size > 4096)
		return false;
	memcpy(data, page + (from.value & 4095), size);
	return true;
}

/* Walks, and checks that the number of reads is within the limit that the header promises. */
static inline enum arch_walk test_walk(struct test_memory *memory, const struct arch_mmu *mmu,
				       uint64_t address, struct arch_mapping *ret)
{
	struct arch_memory reader = { test_memory_read, memory };
	enum arch_walk status;

	memory->reads = 0;
	status = arch_walk(mmu, &reader, GVA(address), ret);
	assert_true(memory->reads <= 6);
	return status;
}

#define assert_maps(memory, mmu, address, expected_gpa, expected_page)                             \
	do {                                                                                       \
		struct arch_mapping mapping_ = { 0 };                                              \
		assert_int_equal(test_walk(memory, mmu, address, &mapping_), ARCH_WALK_OK);        \
		assert_true(mapping_.gpa.value == (expected_gpa));                                 \
		assert_true(mapping_.page_bytes == (expected_page));                               \
	} while (0)

#define assert_walk(memory, mmu, address, expected_status)                                         \
	do {                                                                                       \
		struct arch_mapping mapping_ = { 0 };                                              \
		assert_int_equal(test_walk(memory, mmu, address, &mapping_), expected_status);     \
		assert_true(mapping_.page_bytes == 0);                                             \
	} while (0)

#endif
