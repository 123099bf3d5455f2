/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For guest_sampler.bpf.c: copies the mappings of a process (guest_areas.h) at the first sample of
 * its address space, and whenever it has got other code: it may have ended by the time that
 * somebody looks for it.
 *
 * The guest's other CPUs may be changing the mappings. They hold mmap_lock then, so nothing is
 * taken if that is held at the beginning or at the end, and the next sample tries again.
 */
#ifndef BPF_GUEST_SPACES_BPF_H
#define BPF_GUEST_SPACES_BPF_H

#include "bpf/guest_areas.h"

#define SPACES 4096	     /* address spaces that are remembered; a power of two */
#define LOCKED_FOR_WRITING 1 /* kernel/locking/rwsem.c */

/* As they were when they were copied. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPACES);
	__type(key, __u32);
	__type(value, struct space);
} spaces SEC(".maps");

/* By CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct areas_scratch);
} areas_scratches SEC(".maps");

/* The mm_struct at OBJECT, a gpa; false: mappings may be changing. */
static __always_inline bool read_space(struct sampler_vm *vm, __u64 object, struct space *ret)
{
	const struct guest_areas *at = &vm->current.areas;

	return read_at(vm, object, at->lock, &ret->lock, sizeof(ret->lock)) &&
	       !(ret->lock & LOCKED_FOR_WRITING) &&
	       read_at(vm, object, at->executable_pages, &ret->executable_pages,
		       sizeof(ret->executable_pages)) &&
	       read_at(vm, object, at->start_stack, &ret->start_stack, sizeof(ret->start_stack));
}

static __always_inline bool is_same_space(const struct space *left, const struct space *right)
{
	return left->mm == right->mm && left->tgid == right->tgid && left->vm == right->vm &&
	       left->version == right->version && left->start_stack == right->start_stack &&
	       left->executable_pages == right->executable_pages;
}

static __always_inline __u32 number_of(const struct space *space)
{
	__u64 mixed = (space->mm >> 6 ^ (__u64)space->tgid << 20 ^ (__u64)space->vm << 40) *
		      0x9e3779b97f4a7c15ull;

	return mixed >> 32 & (SPACES - 1);
}

/* False: there is no room in RING. */
static __always_inline bool write_areas(void *ring, struct areas_scratch *scratch,
					const struct sampler_record *record)
{
	__u32 count = scratch->areas.count;

	if (count > SAMPLER_AREAS)
		return false;
	scratch->record = *record;
	scratch->record.flags |= SAMPLER_MAPPINGS;
	scratch->areas.start_stack = scratch->before.start_stack;
	return !bpf_ringbuf_output(ring, scratch,
				   sizeof(scratch->record) +
					   __builtin_offsetof(struct sampler_areas, items) +
					   count * sizeof(struct sampler_area),
				   BPF_RB_NO_WAKEUP);
}

/*
 * Before a sample that found its task: hands over the mappings of its process, unless they are as
 * they were at an earlier sample. While a program is being loaded (load_elf_binary(),
 * fs/binfmt_elf.c), the task has the new address space already, but the registers that user code
 * had are still those of the program before: the record is marked.
 */
__noinline int copy_areas(struct sampler_record *record, struct sampler_vm *vm, __u32 vm_number)
{
	struct areas_scratch *scratch;
	struct space *now, *known;
	__u64 object;
	__u32 key = 0, cpu;
	void *ring;

	if (!record || !vm || !vm->current.areas.area_end || !IS_KERNEL(record->mm))
		return 0;
	scratch = bpf_map_lookup_elem(&areas_scratches, &key);
	if (!scratch)
		return 0;
	now = &scratch->before;
	object = walk_kernel(vm, record->mm);
	if (!read_at(vm, object, vm->current.areas.end_code, &now->end_code, sizeof(now->end_code)))
		return 0;
	if (!now->end_code) {
		record->flags |= SAMPLER_LOADING;
		return 0;
	}
	now->mm = record->mm;
	now->vm = vm_number;
	now->tgid = record->tgid;
	now->version = vm->version;
	if (!read_space(vm, object, now))
		return 0;
	key = number_of(now);
	known = bpf_map_lookup_elem(&spaces, &key);
	cpu = record->cpu;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!known || !ring || is_same_space(known, now))
		return 0;
	/* What could not be read is not tried at each sample. */
	if (take_areas(scratch, vm, record->mm) &&
	    (!read_space(vm, object, &scratch->after) ||
	     scratch->after.executable_pages != now->executable_pages ||
	     !write_areas(ring, scratch, record)))
		return 0;
	*known = *now;
	return 0;
}

#endif
