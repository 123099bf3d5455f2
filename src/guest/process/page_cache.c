/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page cache: address_space.i_pages, an xarray (since 4.20) of folios, indexed by page number.
 *
 * The xarray (include/linux/xarray.h, lib/xarray.c): its head is the entry of index 0, or a node; a
 * node covers the bits of an index from `shift` up, and has slots. The lowest bits of an entry give
 * its kind: 10 is a node (plus 2) or, if small, the number of another slot of the same node that
 * this one belongs to (a folio of several pages); x1 is a value: the page is swapped out or in DAX
 * memory; 00 is a folio.
 *
 * The struct pages of all frames are in one array, `vmemmap`, so the address of one gives its frame
 * (include/asm-generic/memory_model.h). A folio's struct is that of its first page, with the number
 * of that page in the file. A folio is only trusted if it points back to the file.
 *
 * Limits: x86-64 kernels with CONFIG_SPARSEMEM_VMEMMAP and CONFIG_DYNAMIC_MEMORY_LAYOUT, which all
 * distributions set. Swapped-out pages, and files on DAX, are not in memory. Before 6.7, hugetlbfs
 * counts in huge pages: only the first page of such a file is found correctly.
 */
#include "guest/process/page_cache.h"

#include <string.h>

#include "base/memory.h"

#define MAX_CHUNK 64	   /* slots of a node, a power of two */
#define MAX_FOLIO_PAGES 4096 /* more than 2^MAX_PAGECACHE_ORDER */
#define MAX_FRAME (1ULL << 40)
#define PAGE_SHIFT 12
#define READ_PAGES GUEST_MEMORY_READ_NOW

#define ROW(structure, path, field)                                                                \
	{ structure, path, offsetof(struct guest_page_cache_layout, field), false }
#define MAYBE(structure, path, field)                                                              \
	{ structure, path, offsetof(struct guest_page_cache_layout, field), true }

static const struct guest_layout_row file_rows[] = {
	ROW("address_space", "i_pages.xa_head", tree),
	ROW("address_space", "host", host),
	ROW("inode", "i_size", size),
	ROW("xa_node", "shift", shift),
	ROW("xa_node", "slots", slots),
	{ 0 },
};

static const struct guest_layout_row folio_rows[] = {
	MAYBE("folio", "flags", flags),
	MAYBE("folio", "mapping", mapping),
	MAYBE("folio", "index", index),
	{ 0 },
};

static const struct guest_layout_row page_rows[] = {
	ROW("page", "flags", flags),
	ROW("page", "mapping", mapping),
	ROW("page", "index", index),
	{ 0 },
};

static struct error *find_page_structs(const struct guest_kernel *kernel,
				       struct guest_page_cache_layout *layout)
{
	const struct guest_btf *btf = guest_kernel_btf(kernel);
	struct gva vmemmap_base;
	int64_t bit;

	layout->page_struct_bytes = guest_btf_size(btf, guest_btf_find_struct(btf, "page"));
	if (!layout->page_struct_bytes || !guest_btf_find_enumerator(btf, "PG_uptodate", &bit) ||
	    bit < 0 || bit > 63 ||
	    !guest_kernel_find_symbol(kernel, "vmemmap_base", &vmemmap_base) ||
	    !guest_space_read_u64(guest_kernel_space(kernel), vmemmap_base, &layout->page_structs))
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel does not show where its struct pages are");
	layout->uptodate_bit = bit;
	return NULL;
}

struct error *guest_page_cache_init(struct guest_page_cache *cache,
				    const struct guest_kernel *kernel)
{
	struct guest_page_cache_layout layout = { 0 };
	struct error *error = guest_kernel_layout(kernel, file_rows, &layout);

	if (!error)
		error = guest_kernel_layout(kernel, folio_rows, &layout);
	if (!error && (!layout.flags.size || !layout.mapping.size || !layout.index.size))
		error = guest_kernel_layout(kernel, page_rows, &layout);
	if (!error)
		error = find_page_structs(kernel, &layout);
	if (!error && (layout.slots.size > 8 * MAX_CHUNK || !layout.slots.size ||
		       layout.slots.size & (layout.slots.size - 1)))
		error = error_create(ERROR_UNSUPPORTED,
				     "the guest's kernel has xarray nodes of an unexpected size");
	if (error)
		return error_prefix(error, "could not read files in the guest's memory");
	*cache = (struct guest_page_cache){ guest_kernel_space(kernel), layout };
	return NULL;
}

static bool field(struct guest_page_cache *cache, uint64_t base, const struct guest_btf_field *at,
		  uint64_t *ret)
{
	uint64_t value = 0;

	if (!at->size || at->size > sizeof(value) ||
	    !guest_space_read(cache->space, GVA(base + at->offset), &value, at->size))
		return false;
	*ret = value;
	return true;
}

/* The kinds of xarray entries. */
static bool is_internal(uint64_t entry)
{
	return (entry & 3) == 2;
}

static bool is_node(uint64_t entry)
{
	return is_internal(entry) && entry > 4096;
}

static bool is_sibling(uint64_t entry, uint64_t chunk)
{
	return is_internal(entry) && entry >> 2 < chunk - 1;
}

/*
 * The entry of INDEX in the xarray whose head is HEAD; 0: none. The shift decreases from node to
 * node, which limits the walk.
 */
static uint64_t find_entry(struct guest_page_cache *cache, uint64_t head, uint64_t index)
{
	uint64_t chunk = cache->layout.slots.size / sizeof(uint64_t);
	uint64_t limit = 64, shift, entry = head;

	if (!is_node(head))
		return index ? 0 : head;
	while (is_node(entry)) {
		uint64_t node = entry & ~3ULL;
		uint64_t slots = node + cache->layout.slots.offset;

		if (!field(cache, node, &cache->layout.shift, &shift) || shift >= limit)
			return 0;
		if (limit == 64 && index >> shift >= chunk)
			return 0; /* after the last page in the tree */
		limit = shift;
		if (!guest_space_read_u64(cache->space,
					  GVA(slots + 8 * (index >> shift & (chunk - 1))), &entry))
			return 0;
		if (is_sibling(entry, chunk) &&
		    !guest_space_read_u64(cache->space, GVA(slots + 8 * (entry >> 2)), &entry))
			return 0;
	}
	return entry;
}

/* The frame of page INDEX, which FOLIO contains. */
static bool find_frame(struct guest_page_cache *cache, struct gva file, uint64_t folio,
		       uint64_t index, struct gpa *ret)
{
	const struct guest_page_cache_layout *layout = &cache->layout;
	uint64_t flags, mapping, first, frame;

	if (folio < layout->page_structs ||
	    (folio - layout->page_structs) % layout->page_struct_bytes ||
	    !field(cache, folio, &layout->flags, &flags) ||
	    !field(cache, folio, &layout->mapping, &mapping) ||
	    !field(cache, folio, &layout->index, &first))
		return false;
	if (mapping != file.value || !(flags >> layout->uptodate_bit & 1) || first > index ||
	    index - first >= MAX_FOLIO_PAGES)
		return false;
	frame = (folio - layout->page_structs) / layout->page_struct_bytes + (index - first);
	if (frame >= MAX_FRAME)
		return false;
	*ret = GPA(frame << PAGE_SHIFT);
	return true;
}

bool guest_page_cache_find(struct guest_page_cache *cache, struct gva file, uint64_t index,
			   struct gpa *ret)
{
	uint64_t head, entry;

	if (!field(cache, file.value, &cache->layout.tree, &head))
		return false;
	entry = find_entry(cache, head, index);
	return entry && !(entry & 3) && find_frame(cache, file, entry, index, ret);
}

bool guest_cached_file_open(struct guest_page_cache *cache, struct gva file,
			    struct guest_cached_file *ret)
{
	uint64_t inode, bytes;

	if (!field(cache, file.value, &cache->layout.host, &inode) ||
	    !field(cache, inode, &cache->layout.size, &bytes))
		return false;
	*ret = (struct guest_cached_file){ .cache = cache, .file = file, .bytes = bytes };
	return true;
}

void guest_cached_file_close(struct guest_cached_file *file)
{
	vector_deinit(&file->used);
}

/* Finds COUNT pages starting with FIRST, and reads them as they are now. */
static bool read_pages(struct guest_cached_file *file, uint64_t first, size_t count, void *pages)
{
	struct gpa frames[READ_PAGES];

	for (size_t i = 0; i < count; i++)
		if (!guest_page_cache_find(file->cache, file->file, first + i, &frames[i]))
			return false;
	if (!guest_memory_read_now(file->cache->space->memory, frames, count, pages))
		return false;
	for (size_t i = 0; i < count; i++)
		vector_append(&file->used, (struct guest_cached_page){ first + i, frames[i] });
	return true;
}

bool guest_cached_file_read(struct guest_cached_file *file, uint64_t offset, void *data,
			    size_t size)
{
	uint8_t pages[READ_PAGES * GUEST_PAGE_BYTES];
	uint8_t *to = data;

	if (offset > file->bytes || size > file->bytes - offset)
		return false;
	while (size) {
		size_t skipped = offset % GUEST_PAGE_BYTES;
		size_t part = sizeof(pages) - skipped;

		if (part > size)
			part = size;
		if (!read_pages(file, offset / GUEST_PAGE_BYTES,
				(skipped + part + GUEST_PAGE_BYTES - 1) / GUEST_PAGE_BYTES, pages))
			return false;
		memcpy(to, pages + skipped, part);
		to += part;
		offset += part;
		size -= part;
	}
	return true;
}

bool guest_cached_file_unchanged(struct guest_cached_file *file)
{
	guest_space_forget(file->cache->space);
	for (size_t i = 0; i < file->used.count; i++) {
		const struct guest_cached_page *page = &file->used.items[i];
		struct gpa now;

		if (!guest_page_cache_find(file->cache, file->file, page->index, &now) ||
		    now.value != page->gpa.value)
			return false;
	}
	return true;
}
