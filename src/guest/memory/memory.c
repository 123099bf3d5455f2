/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest physical memory through a cache of pages.
 *
 * The cache never evicts single pages: one look at a guest needs little memory (a few MB), which is
 * bounded, and should see a consistent view as far as possible.
 */
#include "guest/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vector.h"

#define PREFETCH_PAGES 64
#define NOT_THERE 0 /* cached failure: the source could not read that page */

struct guest_memory {
	struct guest_memory_source source;
	struct guest_slot *slots;
	size_t slot_count;
	uint64_t max_bytes;
	uint64_t bytes_read;
	bool exhausted;
	struct map pages; /* page number -> pointer to its copy, or NOT_THERE */
	VECTOR(uint8_t *) copies; /* of one or more pages each; owned */
};

/* A copy of SLOTS, sorted by address. */
static struct guest_slot *copy_slots(const struct guest_slot *slots, size_t count)
{
	_cleanup_free_ struct sort_key *keys = memory_calloc(count, sizeof(*keys));
	struct guest_slot *sorted = memory_calloc(count, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){ slots[i].start.value, i };
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = slots[keys[i].index];
	return sorted;
}

struct guest_memory *guest_memory_create(const struct guest_memory_source *source,
					 const struct guest_slot *slots, size_t slot_count,
					 uint64_t max_bytes)
{
	struct guest_memory *memory = memory_calloc(1, sizeof(*memory));

	memory->source = *source;
	memory->slots = copy_slots(slots, slot_count);
	memory->slot_count = slot_count;
	memory->max_bytes = max_bytes;
	map_init(&memory->pages);
	return memory;
}

void guest_memory_forget(struct guest_memory *memory)
{
	for (size_t i = 0; i < memory->copies.count; i++)
		free(memory->copies.items[i]);
	vector_deinit(&memory->copies);
	map_deinit(&memory->pages);
	map_init(&memory->pages);
	memory->bytes_read = 0;
	memory->exhausted = false;
}

void guest_memory_destroy(struct guest_memory *memory)
{
	if (!memory)
		return;
	guest_memory_forget(memory);
	map_deinit(&memory->pages);
	free(memory->slots);
	free(memory);
}

static bool in_slots(const struct guest_memory *memory, uint64_t page)
{
	size_t place = SEARCH_COUNT(i, memory->slot_count, memory->slots[i].start.value <= page);
	const struct guest_slot *slot;

	if (!place)
		return false;
	slot = &memory->slots[place - 1];
	return page - slot->start.value < slot->bytes &&
	       slot->bytes - (page - slot->start.value) >= GUEST_PAGE_BYTES;
}

/* Reads COUNT pages that are inside the slots and not in the cache. */
static void read_pages(struct guest_memory *memory, const struct gpa *from, size_t count)
{
	uint64_t bytes = count * GUEST_PAGE_BYTES;
	uint8_t *copy;
	bool read;

	if (bytes > memory->max_bytes - memory->bytes_read) {
		memory->exhausted = true;
		return;
	}
	copy = memory_alloc(bytes);
	read = memory->source.read_pages(memory->source.context, from, count, copy);
	memory->bytes_read += bytes;
	for (size_t i = 0; i < count && (read || count == 1); i++)
		*map_insert(&memory->pages, from[i].value / GUEST_PAGE_BYTES, NULL) =
			read ? (uintptr_t)(copy + i * GUEST_PAGE_BYTES) : NOT_THERE;
	if (read)
		vector_append(&memory->copies, copy);
	else
		free(copy);
}

const uint8_t *guest_memory_page(struct guest_memory *memory, struct gpa from)
{
	struct gpa page = GPA(from.value & ~(uint64_t)(GUEST_PAGE_BYTES - 1));
	uint64_t *cached = map_find(&memory->pages, page.value / GUEST_PAGE_BYTES);

	if (!cached) {
		if (!in_slots(memory, page.value))
			return NULL;
		read_pages(memory, &page, 1);
		cached = map_find(&memory->pages, page.value / GUEST_PAGE_BYTES);
	}
	return cached ? (const uint8_t *)(uintptr_t)*cached : NULL;
}

void guest_memory_prefetch(struct guest_memory *memory, const struct gpa *from, size_t count)
{
	struct gpa wanted[PREFETCH_PAGES];
	size_t wanted_count = 0;

	for (size_t i = 0; i < count; i++) {
		struct gpa page = GPA(from[i].value & ~(uint64_t)(GUEST_PAGE_BYTES - 1));

		if (map_find(&memory->pages, page.value / GUEST_PAGE_BYTES) ||
		    !in_slots(memory, page.value))
			continue;
		wanted[wanted_count++] = page;
		if (wanted_count == PREFETCH_PAGES) {
			read_pages(memory, wanted, wanted_count);
			wanted_count = 0;
		}
	}
	if (wanted_count)
		read_pages(memory, wanted, wanted_count);
}

bool guest_memory_read_now(struct guest_memory *memory, const struct gpa *pages, size_t count,
			   void *data)
{
	for (size_t i = 0; i < count; i++)
		if (pages[i].value % GUEST_PAGE_BYTES || !in_slots(memory, pages[i].value))
			return false;
	return memory->source.read_pages(memory->source.context, pages, count, data);
}

bool guest_memory_read(struct guest_memory *memory, struct gpa from, void *data, size_t size)
{
	uint8_t *to = data;

	if (size > UINT64_MAX - from.value)
		return false;
	while (size) {
		size_t in_page = from.value % GUEST_PAGE_BYTES;
		size_t part = GUEST_PAGE_BYTES - in_page;
		const uint8_t *page = guest_memory_page(memory, from);

		if (!page)
			return false;
		if (part > size)
			part = size;
		memcpy(to, page + in_page, part);
		to += part;
		from.value += part;
		size -= part;
	}
	return true;
}

uint64_t guest_memory_bytes_read(const struct guest_memory *memory)
{
	return memory->bytes_read;
}

bool guest_memory_exhausted(const struct guest_memory *memory)
{
	return memory->exhausted;
}

const struct guest_slot *guest_memory_slots(const struct guest_memory *memory, size_t *ret_count)
{
	*ret_count = memory->slot_count;
	return memory->slots;
}

static bool read_for_walk(void *context, struct gpa from, void *data, size_t size)
{
	return guest_memory_read(context, from, data, size);
}

struct arch_memory guest_memory_for_walks(struct guest_memory *memory)
{
	return (struct arch_memory){ read_for_walk, memory };
}
