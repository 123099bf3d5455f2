/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VM's memory slots, in both forms that kernels have used: a hash table of lists since 5.17, an
 * array before. Only address space 0 (the other one, SMM, shows the same memory again).
 *
 * The including program has `const volatile struct vm_files_layout layout` and defines
 * visit_slot(), which is called with the address of each struct kvm_memory_slot, as long as
 * slots_left allows: a VM's owner chooses how many slots there are, and the lists may change under
 * the walk.
 */
#ifndef BPF_KVM_SLOTS_BPF_H
#define BPF_KVM_SLOTS_BPF_H

#include "bpf/kernel_read.bpf.h"

#define MAX_SLOTS 32767 /* the maximum of a VM (KVM_MEM_SLOTS_NUM) */
/* The array has 512 or more slots only with memory hotplug; each slot adds to the loading time. */
#define MAX_ARRAY_SLOTS 512

extern const volatile struct vm_files_layout layout;

/* A walk through a hash table of lists. */
struct walk {
	__u64 buckets;
	__u64 node; /* in the list of this bucket; 0: at the end */
	__u64 node_offset;
	__u64 pages; /* used by visit_slot() */
};

/*
 * Visits that are still allowed; 0 at the end: there may be more slots. Not on the stack, where the
 * verifier would follow it from number to number.
 */
__u32 slots_left;

static __always_inline void visit_slot(struct walk *walk, __u64 slot);

static long visit_next(__u32 step, struct walk *walk)
{
	(void)step;
	if (!walk->node || !slots_left)
		return 1;
	slots_left--;
	visit_slot(walk, walk->node - walk->node_offset);
	walk->node = read_word(walk->node);
	return 0;
}

/* A bucket contains a struct hlist_head (a pointer); a slot's node is a struct hlist_node. */
static long visit_bucket(__u32 bucket, struct walk *walk)
{
	walk->node = read_word(walk->buckets + bucket * sizeof(__u64));
	bpf_loop(MAX_SLOTS, visit_next, walk, 0);
	return !slots_left;
}

static __always_inline void visit_hashed(__u64 slots, struct walk *walk)
{
	/* A slot is in two tables; node_idx says which of its list nodes belong to ours. */
	walk->buckets = slots + layout.slots_id_hash;
	walk->node_offset = layout.slot_id_node +
			    2 * sizeof(__u64) * (read_u32(slots + layout.slots_node_idx) & 1);
	bpf_loop(layout.id_hash_buckets, visit_bucket, walk, 0);
}

static __always_inline void visit_array(__u64 slots, struct walk *walk)
{
	__u32 used = read_u32(slots + layout.slots_used);

	if (used > MAX_ARRAY_SLOTS)
		return;
	for (__u32 i = 0; i < MAX_ARRAY_SLOTS && i < used && slots_left; i++, slots_left--)
		visit_slot(walk, slots + layout.slots_array + (__u64)i * layout.slot_size);
}

/*
 * False: there are too many slots, or they changed in the meantime; what was visited must not be
 * used.
 */
static __always_inline int visit_slots(__u64 kvm, int hashed, struct walk *walk)
{
	__u64 slots = read_word(kvm + layout.kvm_memslots);
	__u64 generation = read_word(slots + layout.slots_generation);

	if (hashed)
		visit_hashed(slots, walk);
	else
		visit_array(slots, walk);
	return slots_left && read_word(kvm + layout.kvm_memslots) == slots &&
	       read_word(slots + layout.slots_generation) == generation;
}

#endif
