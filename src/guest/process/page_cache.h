/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's page cache: finds the guest pages that hold a file's contents, and reads them. Parts
 * that the guest has not read from disk, or has dropped again, are not in memory.
 */
#ifndef GUEST_PROCESS_PAGE_CACHE_H
#define GUEST_PROCESS_PAGE_CACHE_H

#include <stdbool.h>

#include "base/vector.h"
#include "guest/kernel/kernel.h"

struct guest_page_cache_layout {
	struct guest_btf_field tree;	      /* in struct address_space: its xarray's head */
	struct guest_btf_field host, size;    /* address_space -> inode, with the file's size */
	struct guest_btf_field shift, slots;  /* of struct xa_node */
	struct guest_btf_field flags, mapping, index; /* of struct folio, before 5.16 struct page */
	uint64_t page_struct_bytes;	      /* sizeof(struct page) */
	uint64_t page_structs;		      /* gva of the struct page of frame 0: vmemmap */
	unsigned int uptodate_bit;	      /* in flags: the page has been filled */
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
 * False: it is not in memory, or is still being read from disk.
 */
bool guest_page_cache_find(struct guest_page_cache *cache, struct gva file, uint64_t index,
			   struct gpa *ret);

/* The contents of a file that are in memory. */
struct guest_cached_file {
	struct guest_page_cache *cache; /* borrowed */
	struct gva file;		/* struct address_space */
	uint64_t bytes;			/* of the file */
	VECTOR(struct guest_cached_page {
		uint64_t index;
		struct gpa gpa;
	}) used; /* pages that were read */
};

/* False: FILE cannot be read. */
bool guest_cached_file_open(struct guest_page_cache *cache, struct gva file,
			    struct guest_cached_file *ret);
void guest_cached_file_close(struct guest_cached_file *file);
/* False if any of it is past the end of the file or not in memory; DATA is then undefined. */
bool guest_cached_file_read(struct guest_cached_file *file, uint64_t offset, void *data,
			    size_t size);
/*
 * Whether the pages that were read are still where they were: the guest may drop a page at any time
 * and reuse it. Drops all cached guest memory.
 */
bool guest_cached_file_unchanged(struct guest_cached_file *file);

#endif
