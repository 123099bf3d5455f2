/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page cache of a guest: which guest pages hold a file's contents, and reading them there. What
 * the guest has not read from its disk, or has dropped again, is not in memory.
 */
#ifndef GUEST_PROCESS_PAGE_CACHE_H
#define GUEST_PROCESS_PAGE_CACHE_H

#include <stdbool.h>

#include "base/vector.h"
#include "guest/kernel/kernel.h"

struct guest_page_cache_layout {
	struct guest_btf_field tree;	      /* in struct address_space: its xarray's head */
	struct guest_btf_field host, size;    /* address_space -> inode, and a file's bytes there */
	struct guest_btf_field shift, slots;  /* of struct xa_node */
	struct guest_btf_field flags, mapping, index; /* of struct folio, before 5.16 struct page */
	uint64_t page_struct_bytes;	      /* sizeof(struct page) */
	uint64_t page_structs;		      /* gva of the struct page of frame 0: vmemmap */
	unsigned int uptodate_bit;	      /* of flags: the page has been filled */
};

struct guest_page_cache {
	struct guest_space *space; /* borrowed */
	struct guest_page_cache_layout layout;
};

/* ERROR_UNSUPPORTED: no BTF, no data symbols, a kernel without vmemmap. KERNEL is borrowed. */
struct error *guest_page_cache_init(struct guest_page_cache *cache,
				    const struct guest_kernel *kernel) MUST_CHECK;

/*
 * The frame that holds page INDEX (in units of GUEST_PAGE_BYTES) of FILE, a struct address_space.
 * False: it is not in memory, or is just being read from the disk.
 */
bool guest_page_cache_find(struct guest_page_cache *cache, struct gva file, uint64_t index,
			   struct gpa *ret);

/* A file's contents, as far as they are in memory. */
struct guest_cached_file {
	struct guest_page_cache *cache; /* borrowed */
	struct gva file;		/* struct address_space */
	uint64_t bytes;			/* of the file */
	VECTOR(struct guest_cached_page {
		uint64_t index;
		struct gpa gpa;
	}) used; /* what was read */
};

/* False: FILE cannot be read. */
bool guest_cached_file_open(struct guest_page_cache *cache, struct gva file,
			    struct guest_cached_file *ret);
void guest_cached_file_close(struct guest_cached_file *file);
/* False if any of it is behind the file's end or not in memory; DATA is then undefined. */
bool guest_cached_file_read(struct guest_cached_file *file, uint64_t offset, void *data,
			    size_t size);
/*
 * Whether the pages that were read are where they were: the guest may drop a page and fill it with
 * something else at any time. Forgets all guest memory that was cached.
 */
bool guest_cached_file_unchanged(struct guest_cached_file *file);

#endif
