/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches a guest's memory for page tables. The input is all of its RAM: two pages below 1 MiB,
 * the others from 2 MiB, where an image may begin.
 */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "guest/kernel/kernel_search.h"
#include "guest/memory/space.h"

#define LOW_START 0x80000ULL
#define LOW_BYTES (2ULL * GUEST_PAGE_BYTES)
#define HIGH_START (2ULL << 20)
#define MAX_READS 2048 /* of pages: below 1 MiB, and for a few walks */

struct input {
	const uint8_t *data;
	size_t size;
	size_t reads;
};

static const uint8_t *page_at(const struct input *input, uint64_t gpa)
{
	uint64_t offset = gpa < HIGH_START ? gpa - LOW_START : gpa - HIGH_START + LOW_BYTES;

	assert(gpa >= LOW_START && (gpa >= HIGH_START || gpa < LOW_START + LOW_BYTES));
	assert(offset <= input->size - GUEST_PAGE_BYTES);
	return input->data + offset;
}

static bool read_pages(void *context, const struct gpa *from, size_t count, void *pages)
{
	struct input *input = context;

	input->reads += count;
	assert(input->reads <= MAX_READS);
	for (size_t i = 0; i < count; i++)
		memcpy((uint8_t *)pages + i * GUEST_PAGE_BYTES, page_at(input, from[i].value),
		       GUEST_PAGE_BYTES);
	return true;
}

static void look(struct input *input, uint64_t cr4)
{
	struct guest_memory_source source = { read_pages, input };
	struct guest_slot slots[] = {
		{ GPA(LOW_START), LOW_BYTES },
		{ GPA(HIGH_START), (input->size - LOW_BYTES) & ~(GUEST_PAGE_BYTES - 1ULL) },
	};
	_cleanup_guest_memory_ struct guest_memory *memory =
		guest_memory_create(&source, slots, 2, 64 << 20);
	struct arch_mmu mmu = { .arch = &arch_x86_64,
				.x86 = { .cr0 = 1ULL << 31, .cr4 = cr4, .efer = 1 << 10 } };
	struct error *error;

	input->reads = 0;
	error = guest_kernel_search(memory, &mmu);
	/* The result is one of the two pages. */
	if (error)
		assert(!mmu.x86.cr3);
	else
		assert(mmu.x86.cr3 == LOW_START || mmu.x86.cr3 == LOW_START + GUEST_PAGE_BYTES);
	error_destroy(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .data = data, .size = size };

	if (size < LOW_BYTES)
		return 0;
	look(&input, 1 << 5);
	look(&input, 1 << 12 | 1 << 5);
	return 0;
}
