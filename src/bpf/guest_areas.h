/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies which executable mappings a guest's process has. Like stacks_in_use.h, which must be
 * included before.
 *
 * The kernel keeps mappings (struct vm_area_struct) in a maple tree since 6.1
 * (src/guest/process/maple.c describes it), before that in a list. The guest may have written
 * anything there: what is visited is limited to MAX_NODES and MAX_AREAS, and no conclusions are
 * drawn here.
 */
#ifndef BPF_GUEST_AREAS_H
#define BPF_GUEST_AREAS_H

#define MAX_AREAS 1024 /* visited, of a process; one with more is left to its reader */
#define MAX_NODES 256
#define NODE_WORDS 32 /* nodes are aligned to their 256 bytes */
#define PENDING_NODES 128 /* a power of two; four levels of nodes that are full */

#define NODE_MASK 255ull
#define NODE_TYPE(encoded) ((encoded) >> 3 & 15)
enum { NODE_LEAF_64 = 1, NODE_RANGE_64, NODE_WIDE_64 };

#define AREA_EXECUTABLE 4 /* VM_EXEC, include/linux/mm.h */

/* An address space with what it has mapped. */
struct space {
	__u64 mm, start_stack, executable_pages, version;
	__u32 vm, tgid;
	__u64 lock, end_code; /* not compared */
};

/* Not on the stack, for which there is little room. */
struct areas_scratch {
	struct sampler_record record;
	struct sampler_areas areas;
	__u64 words[NODE_WORDS];
	struct {
		__u64 node, maximum;
	} pending[PENDING_NODES];
	__u32 pending_count, visited;
	__u64 next; /* in the list */
	struct space before, after; /* for guest_spaces.bpf.h */
};

/* INDEX, which is below SIZE, a power of two; in a form that the verifier understands. */
static __always_inline __u32 bounded(__u32 index, __u32 size)
{
	asm volatile("" : "+r"(index));
	return index & (size - 1);
}

static __always_inline bool read_field(struct sampler_vm *vm, __u64 base, __u32 offset, __u64 *ret)
{
	return read_kernel(vm, base + offset, ret, sizeof(*ret));
}

/*
 * A field of the structure whose guest physical address is OBJECT, which is contiguous: it is from
 * a slab.
 */
static __always_inline bool read_at(struct sampler_vm *vm, __u64 object, __u32 offset, void *ret,
				    __u32 size)
{
	return object != NOT_MAPPED && read_gpa(vm, object + offset, ret, size);
}

/* The file of AREA; false: it cannot be read. */
__noinline int take_file(struct sampler_area *area, struct sampler_vm *vm, __u64 file)
{
	const struct guest_areas *at;
	__u64 object, inode = 0;

	if (!area || !vm)
		return 0;
	at = &vm->current.areas;
	object = walk_kernel(vm, file);
	if (!read_at(vm, object, at->file_contents, &area->contents, sizeof(area->contents)) ||
	    !read_at(vm, object, at->file_dentry, &area->dentry, sizeof(area->dentry)) ||
	    !read_at(vm, object, at->file_mount, &area->mount, sizeof(area->mount)) ||
	    !read_at(vm, object, at->file_inode, &area->inode, sizeof(area->inode)) ||
	    !read_field(vm, area->contents, at->contents_inode, &inode))
		return 0;
	object = walk_kernel(vm, inode);
	if (!read_at(vm, object, at->inode_number, &area->inode_number,
		     sizeof(area->inode_number)) ||
	    !read_at(vm, object, at->inode_generation, &area->inode_generation,
		     sizeof(area->inode_generation)))
		return 0;
	return 1;
}

/*
 * Appends the mapping at GVA if it is executable, and notes the next one of a list. False: too
 * many, or unreadable.
 */
__noinline int take_area(struct areas_scratch *scratch, struct sampler_vm *vm, __u64 gva)
{
	const struct guest_areas *at;
	struct sampler_area *area;
	__u64 object, flags = 0, file = 0;
	__u32 count;

	if (!scratch || !vm || scratch->visited++ >= MAX_AREAS)
		return 0;
	at = &vm->current.areas;
	object = walk_kernel(vm, gva);
	if (!read_at(vm, object, at->area_flags, &flags, sizeof(flags)) ||
	    (!at->tree &&
	     !read_at(vm, object, at->area_next, &scratch->next, sizeof(scratch->next))))
		return 0;
	if (!(flags & AREA_EXECUTABLE))
		return 1;
	count = scratch->areas.count;
	if (count >= SAMPLER_AREAS)
		return 0;
	scratch->areas.count = count + 1;
	area = &scratch->areas.items[bounded(count, SAMPLER_AREAS)];
	__builtin_memset(area, 0, sizeof(*area));
	area->flags = flags;
	if (!read_at(vm, object, at->area_start, &area->start, sizeof(area->start)) ||
	    !read_at(vm, object, at->area_end, &area->end, sizeof(area->end)) ||
	    !read_at(vm, object, at->area_page, &area->page, sizeof(area->page)) ||
	    !read_at(vm, object, at->area_private, &area->private_data,
		     sizeof(area->private_data)) ||
	    !read_at(vm, object, at->area_file, &file, sizeof(file)))
		return 0;
	return !file || take_file(area, vm, file);
}

/* The list of kernels before 6.1; false: it is too long, or unreadable. */
static __always_inline bool take_list(struct areas_scratch *scratch, struct sampler_vm *vm,
				      __u64 mm)
{
	if (!read_field(vm, mm, vm->current.areas.list, &scratch->next))
		return false;
	for (__u32 i = 0; i <= MAX_AREAS; i++) {
		if (!scratch->next)
			return true;
		if (!take_area(scratch, vm, scratch->next))
			return false;
	}
	return false;
}

static __always_inline void add_pending(struct areas_scratch *scratch, __u64 node, __u64 maximum)
{
	__u32 at = bounded(scratch->pending_count++, PENDING_NODES);

	scratch->pending[at].node = node;
	scratch->pending[at].maximum = maximum;
}

/* Takes the mappings of a leaf, or notes the nodes below NODE, which ends with MAXIMUM. */
__noinline int take_node(struct areas_scratch *scratch, struct sampler_vm *vm, __u64 node,
			 __u64 maximum)
{
	const struct guest_areas *at;
	__u32 type = NODE_TYPE(node), pivot, slot, slots;

	if (!scratch || !vm || type < NODE_LEAF_64 || type > NODE_WIDE_64)
		return 0;
	at = &vm->current.areas;
	pivot = type == NODE_WIDE_64 ? at->wide_pivot : at->range_pivot;
	slot = type == NODE_WIDE_64 ? at->wide_slot : at->range_slot;
	slots = type == NODE_WIDE_64 ? at->wide_slots : at->range_slots;
	if (!read_kernel(vm, node & ~NODE_MASK, scratch->words, sizeof(scratch->words)))
		return 0;
	for (__u32 i = 0; i < NODE_WORDS / 2 && i < slots; i++) {
		__u64 pivot_word = scratch->words[bounded(pivot + i, NODE_WORDS)];
		__u64 end = i + 1 < slots ? pivot_word : maximum;
		__u64 entry = scratch->words[bounded(slot + i, NODE_WORDS)];

		if ((!end && i) || end > maximum)
			end = maximum;
		if (type != NODE_LEAF_64) {
			if (scratch->pending_count >= PENDING_NODES)
				return 0;
			add_pending(scratch, entry, end);
		} else if (entry && !(entry & 3) && !take_area(scratch, vm, entry)) {
			return 0;
		}
		if (end == maximum)
			break;
	}
	return 1;
}

/* False: the tree is too large, or unreadable. */
static __always_inline bool take_tree(struct areas_scratch *scratch, struct sampler_vm *vm,
				      __u64 mm)
{
	__u64 root = 0;

	if (!read_field(vm, mm, vm->current.areas.tree, &root))
		return false;
	if ((root & 3) != 2 || root <= PAGE_BYTES) /* no node: a single entry, or none */
		return !root || (root & 3) || take_area(scratch, vm, root);
	add_pending(scratch, root, ~0ull);
	for (__u32 i = 0; i < MAX_NODES; i++) {
		__u32 at;

		if (!scratch->pending_count)
			return true;
		at = bounded(--scratch->pending_count, PENDING_NODES);
		if (!take_node(scratch, vm, scratch->pending[at].node,
			       scratch->pending[at].maximum))
			return false;
	}
	return false;
}

/* All executable mappings of MM; false: there are too many, or they are unreadable. */
static __always_inline bool take_areas(struct areas_scratch *scratch, struct sampler_vm *vm,
				       __u64 mm)
{
	scratch->areas.vdso_image = 0;
	scratch->areas.count = scratch->areas.reserved = 0;
	scratch->pending_count = scratch->visited = 0;
	if (vm->current.areas.vdso_image)
		read_field(vm, mm, vm->current.areas.vdso_image, &scratch->areas.vdso_image);
	return vm->current.areas.tree ? take_tree(scratch, vm, mm) : take_list(scratch, vm, mm);
}

#endif
