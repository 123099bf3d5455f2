/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest virtual memory: page-table walks with a direct-mapped cache, then physical reads. */
#include "guest/memory/space.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"

#define COPY_BATCH 64

void guest_space_init(struct guest_space *space, struct guest_memory *memory,
		      const struct arch_mmu *mmu)
{
	*space = (struct guest_space){ .memory = memory, .mmu = *mmu };
}

void guest_space_forget(struct guest_space *space)
{
	guest_memory_forget(space->memory);
	memset(space->cache, 0, sizeof(space->cache));
}

bool guest_space_translate(struct guest_space *space, struct gva address, struct gpa *ret)
{
	uint64_t in_page = address.value % GUEST_PAGE_BYTES;
	uint64_t page = address.value - in_page;
	size_t slot = hash_u64(page) % GUEST_SPACE_CACHED;
	struct arch_memory memory = guest_memory_for_walks(space->memory);
	struct arch_mapping mapping;

	if (space->cache[slot].page != page + 1) {
		if (arch_walk(&space->mmu, &memory, GVA(page), &mapping) != ARCH_WALK_OK)
			return false;
		space->cache[slot].page = page + 1;
		space->cache[slot].gpa = mapping.gpa;
	}
	*ret = GPA(space->cache[slot].gpa.value + in_page);
	return true;
}

bool guest_space_read(struct guest_space *space, struct gva from, void *data, size_t size)
{
	uint8_t *to = data;

	if (size > UINT64_MAX - from.value)
		return false;
	while (size) {
		size_t part = GUEST_PAGE_BYTES - from.value % GUEST_PAGE_BYTES;
		struct gpa gpa;

		if (part > size)
			part = size;
		if (!guest_space_translate(space, from, &gpa) ||
		    !guest_memory_read(space->memory, gpa, to, part))
			return false;
		to += part;
		from.value += part;
		size -= part;
	}
	return true;
}

bool guest_space_read_u64(struct guest_space *space, struct gva from, uint64_t *ret)
{
	return guest_space_read(space, from, ret, sizeof(*ret));
}

bool guest_space_read_u32(struct guest_space *space, struct gva from, uint32_t *ret)
{
	return guest_space_read(space, from, ret, sizeof(*ret));
}

bool guest_space_read_now(struct guest_space *space, struct gva from, void *data, size_t size)
{
	uint64_t in_page = from.value % GUEST_PAGE_BYTES;
	size_t count = (in_page + size + GUEST_PAGE_BYTES - 1) / GUEST_PAGE_BYTES;
	struct gpa pages[GUEST_MEMORY_READ_NOW];
	_cleanup_free_ uint8_t *bytes = NULL;

	if (size > UINT64_MAX - from.value || count > GUEST_MEMORY_READ_NOW)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!guest_space_translate(
			    space, GVA(from.value - in_page + i * GUEST_PAGE_BYTES), &pages[i]))
			return false;
	bytes = memory_alloc(count * GUEST_PAGE_BYTES);
	if (!guest_memory_read_now(space->memory, pages, count, bytes))
		return false;
	memcpy(data, bytes + in_page, size);
	return true;
}

bool guest_space_read_string(struct guest_space *space, struct gva from, char *text, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t part = GUEST_PAGE_BYTES - (from.value + done) % GUEST_PAGE_BYTES;

		if (part > size - done)
			part = size - done;
		if (!guest_space_read(space, GVA(from.value + done), text + done, part))
			break;
		if (memchr(text + done, 0, part))
			return true;
		done += part;
	}
	text[done < size ? done : size - 1] = 0;
	return false;
}

/* Requests the physical pages of the next COPY_BATCH pages at once. */
static void prefetch(struct guest_space *space, uint64_t from, uint64_t end)
{
	struct gpa pages[COPY_BATCH];
	size_t count = 0;

	for (; from < end && count < COPY_BATCH; from += GUEST_PAGE_BYTES)
		if (guest_space_translate(space, GVA(from), &pages[count]))
			count++;
	guest_memory_prefetch(space->memory, pages, count);
}

uint8_t *guest_space_copy(struct guest_space *space, struct gva from, uint64_t size,
			  uint64_t max_bytes)
{
	uint64_t batch = COPY_BATCH * GUEST_PAGE_BYTES;
	uint64_t end = from.value + size;
	uint8_t *copy;

	if (!size || size > max_bytes || size > UINT64_MAX - from.value)
		return NULL;
	copy = memory_alloc(size);
	for (uint64_t at = from.value; at < end;) {
		uint64_t next = (at - at % GUEST_PAGE_BYTES) + batch;

		if (next > end || next < at)
			next = end;
		prefetch(space, at - at % GUEST_PAGE_BYTES, next);
		if (!guest_space_read(space, GVA(at), copy + (at - from.value), next - at)) {
			free(copy);
			return NULL;
		}
		at = next;
	}
	return copy;
}
