/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest address space: guest physical memory through one set of page tables. Reads are checked
 * page by page; a small cache keeps translations.
 */
#ifndef GUEST_MEMORY_SPACE_H
#define GUEST_MEMORY_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "guest/memory/memory.h"

#define GUEST_SPACE_CACHED 64

struct guest_space {
	struct guest_memory *memory; /* borrowed */
	struct arch_mmu mmu;
	struct {
		uint64_t page; /* gva of a 4 KiB page, plus 1; 0: empty */
		struct gpa gpa;
	} cache[GUEST_SPACE_CACHED];
};

void guest_space_init(struct guest_space *space, struct guest_memory *memory,
		      const struct arch_mmu *mmu);
/* Drops cached memory and translations: later reads see current memory. */
void guest_space_forget(struct guest_space *space);

/* False if any byte is not mapped or not readable; DATA is then undefined. */
bool guest_space_read(struct guest_space *space, struct gva from, void *data, size_t size);
bool guest_space_read_u64(struct guest_space *space, struct gva from, uint64_t *ret);
bool guest_space_read_u32(struct guest_space *space, struct gva from, uint32_t *ret);
/*
 * Like guest_space_read(), but reads current memory (guest_memory_read_now()). Up to
 * GUEST_MEMORY_READ_NOW pages are read together.
 */
bool guest_space_read_now(struct guest_space *space, struct gva from, void *data, size_t size);
/*
 * Reads a string of at most SIZE - 1 bytes; TEXT is always terminated. False if memory ends before
 * the string or SIZE does.
 */
bool guest_space_read_string(struct guest_space *space, struct gva from, char *text, size_t size);
bool guest_space_translate(struct guest_space *space, struct gva address, struct gpa *ret);

/*
 * A copy of [FROM, FROM + SIZE) in one block of memory (read page by page, batched where that saves
 * calls); NULL on failure, or if SIZE is over MAX_BYTES. Free it with free().
 */
uint8_t *guest_space_copy(struct guest_space *space, struct gva from, uint64_t size,
			  uint64_t max_bytes);

#endif
