/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mmap_lock is a rw_semaphore (mmap_sem before 5.8), whose count has bit 0 set for a writer
 * (kernel/locking/rwsem.c). With PREEMPT_RT it is another structure without a count: mappings are
 * not copied then.
 */
#include "guest/process/areas.h"

#define WORD sizeof(uint64_t)

struct layout {
	struct guest_btf_field tree, list, executable_pages, start_stack, lock, old_lock;
	struct guest_btf_field vdso_image, end_code;
	struct guest_btf_field start, end, flags, page, file, next, private_data;
	struct guest_btf_field contents, dentry, mount, inode;
	struct guest_btf_field contents_inode, inode_number, inode_generation;
	struct guest_btf_field range_pivot, range_slot, wide_pivot, wide_slot;
};

#define ROW(structure, path, field) { structure, path, offsetof(struct layout, field), false }
#define MAYBE(structure, path, field) { structure, path, offsetof(struct layout, field), true }

static const struct guest_layout_row rows[] = {
	MAYBE("mm_struct", "mm_mt.ma_root", tree),
	MAYBE("mm_struct", "mmap", list),
	ROW("mm_struct", "exec_vm", executable_pages),
	ROW("mm_struct", "start_stack", start_stack),
	ROW("mm_struct", "end_code", end_code),
	MAYBE("mm_struct", "mmap_lock.count.counter", lock),
	MAYBE("mm_struct", "mmap_sem.count.counter", old_lock),
	MAYBE("mm_struct", "context.vdso_image", vdso_image),
	ROW("vm_area_struct", "vm_start", start),
	ROW("vm_area_struct", "vm_end", end),
	ROW("vm_area_struct", "vm_flags", flags),
	ROW("vm_area_struct", "vm_pgoff", page),
	ROW("vm_area_struct", "vm_file", file),
	MAYBE("vm_area_struct", "vm_next", next),
	ROW("vm_area_struct", "vm_private_data", private_data),
	ROW("file", "f_mapping", contents),
	ROW("file", "f_path.dentry", dentry),
	ROW("file", "f_path.mnt", mount),
	ROW("file", "f_inode", inode),
	ROW("address_space", "host", contents_inode),
	ROW("inode", "i_ino", inode_number),
	ROW("inode", "i_generation", inode_generation),
	MAYBE("maple_range_64", "pivot", range_pivot),
	MAYBE("maple_range_64", "slot", range_slot),
	MAYBE("maple_arange_64", "pivot", wide_pivot),
	MAYBE("maple_arange_64", "slot", wide_slot),
	{ 0 },
};

static void fill(const struct layout *from, struct guest_areas *ret)
{
	*ret = (struct guest_areas){
		.tree = from->tree.offset,
		.list = from->list.offset,
		.executable_pages = from->executable_pages.offset,
		.start_stack = from->start_stack.offset,
		.end_code = from->end_code.offset,
		.lock = from->lock.size ? from->lock.offset : from->old_lock.offset,
		.vdso_image = from->vdso_image.offset,
		.area_start = from->start.offset,
		.area_end = from->end.offset,
		.area_flags = from->flags.offset,
		.area_page = from->page.offset,
		.area_file = from->file.offset,
		.area_next = from->next.offset,
		.area_private = from->private_data.offset,
		.file_contents = from->contents.offset,
		.file_dentry = from->dentry.offset,
		.file_mount = from->mount.offset,
		.file_inode = from->inode.offset,
		.contents_inode = from->contents_inode.offset,
		.inode_number = from->inode_number.offset,
		.inode_generation = from->inode_generation.offset,
		.range_pivot = from->range_pivot.offset / WORD,
		.range_slot = from->range_slot.offset / WORD,
		.range_slots = from->range_slot.size / WORD,
		.wide_pivot = from->wide_pivot.offset / WORD,
		.wide_slot = from->wide_slot.offset / WORD,
		.wide_slots = from->wide_slot.size / WORD,
	};
}

void guest_areas_find(const struct guest_kernel *kernel, struct guest_areas *ret)
{
	struct layout layout;
	struct error *error = guest_kernel_layout(kernel, rows, &layout);
	bool known = !error && (layout.lock.size || layout.old_lock.size) &&
		     (layout.tree.size ? layout.range_slot.size && layout.wide_slot.size
				       : layout.list.size && layout.next.size);

	error_destroy(error);
	*ret = (struct guest_areas){ 0 };
	if (known)
		fill(&layout, ret);
}
