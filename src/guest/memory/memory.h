/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's physical memory, as its hypervisor has it: slots of pages, read page by page through
 * one function, kept in a bounded cache, and counted. Nothing outside the slots can be read.
 *
 * The source is process_vm_readv() on the VMM, a pipe to the process that may call that, or a saved
 * image: this module does not know. Memory may change while it is being read; a cached page does
 * not, until guest_memory_forget().
 */
#ifndef GUEST_MEMORY_MEMORY_H
#define GUEST_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/cleanup.h"

#define GUEST_PAGE_BYTES 4096

struct guest_slot {
	struct gpa start;
	uint64_t bytes;
};

struct guest_memory_source {
	/*
	 * Reads COUNT whole pages, each at a page-aligned gpa inside the slots, into PAGES one
	 * after another. False: none of them could be read.
	 */
	bool (*read_pages)(void *context, const struct gpa *from, size_t count, void *pages);
	void *context;
};

struct guest_memory;

/*
 * SLOTS are copied. At most MAX_BYTES are read (and cached) in total, which limits the cost of one
 * guest.
 */
struct guest_memory *guest_memory_create(const struct guest_memory_source *source,
					 const struct guest_slot *slots, size_t slot_count,
					 uint64_t max_bytes);
void guest_memory_destroy(struct guest_memory *memory); /* takes NULL */

/* False if any byte is outside the slots or cannot be read; DATA is then undefined. */
bool guest_memory_read(struct guest_memory *memory, struct gpa from, void *data, size_t size);
/*
 * The start of the page that contains FROM; NULL as above. Valid until the next
 * guest_memory_forget().
 */
const uint8_t *guest_memory_page(struct guest_memory *memory, struct gpa from);
/* Reads pages that will be needed in one batch, to save calls to the source. */
void guest_memory_prefetch(struct guest_memory *memory, const struct gpa *from, size_t count);
/*
 * Reads COUNT whole pages as they are now, bypassing the cache and MAX_BYTES: for data that is read
 * once and whose amount the caller limits. COUNT is at most GUEST_MEMORY_READ_NOW. False: one of
 * them is outside the slots or cannot be read; DATA is then undefined.
 */
#define GUEST_MEMORY_READ_NOW 64
bool guest_memory_read_now(struct guest_memory *memory, const struct gpa *pages, size_t count,
			   void *data);
/* Empties the cache, so that later reads see current memory. The count of bytes restarts at 0. */
void guest_memory_forget(struct guest_memory *memory);

uint64_t guest_memory_bytes_read(const struct guest_memory *memory);
bool guest_memory_exhausted(const struct guest_memory *memory); /* max_bytes was reached */
/* The slots, sorted by their start. */
const struct guest_slot *guest_memory_slots(const struct guest_memory *memory, size_t *ret_count);

/* For page-table walks. */
struct arch_memory guest_memory_for_walks(struct guest_memory *memory);

DEFINE_CLEANUP(cleanup_guest_memory, struct guest_memory *, guest_memory_destroy)
#define _cleanup_guest_memory_ _cleanup_(cleanup_guest_memory)

#endif
