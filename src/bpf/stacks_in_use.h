/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds what a stopped vCPU is running: its task and the stacks in use, from its registers and
 * guest memory. Used by guest_sampler.bpf.c, and by src/host/capture/guest_copy.c, which gets the
 * registers from QEMU. The including file must first define how to read the VMM's memory, and which
 * registers are known:
 *
 *	bool read_hva(struct sampler_vm *vm, __u64 hva, void *data, __u32 size)
 *	bool knows_sp_and_cr3(void)
 *	bool copies_whole_stacks(void)		of kernels, in which SP can be searched for
 *	__u32 max_user_bytes(struct sampler_vm *vm)	how much of a user stack to copy
 *
 * HVA is 0 for memory that does not exist. Each read is checked against the VM's slots with all of
 * its bytes, after every offset that the guest chose was added. Without SP, either what is above BP
 * is copied, if BP is a frame pointer, or all of the stacks that are certainly in use. The guest
 * may write anything there, but nothing of it is followed further than a walk through its page
 * tables.
 */
#ifndef BPF_STACKS_IN_USE_H
#define BPF_STACKS_IN_USE_H

#include "bpf/guest_sampler.h"

#define PAGE_PRESENT (1ull << 0)
#define PAGE_LARGE (1ull << 7)
#define ADDRESS_MASK 0x000ffffffffff000ull
#define PAGE_BITS 12
#define PAGE_BYTES (1u << PAGE_BITS)
#define NOT_MAPPED (~0ull)
#define LEVEL_BITS 9
#define IS_KERNEL(gva) ((gva) >> 63)
#define GUEST_PID_MAX (1u << 22) /* PID_MAX_LIMIT */
#define MAX_STACK_PAGES 17 /* per stack */

/* struct pt_regs, arch/x86/include/asm/ptrace.h */
#define PT_REGS_BP 4
#define PT_REGS_CS 17
#define PT_REGS_SP 19
#define PT_REGS_SS 20
#define PT_REGS_WORDS 21
/* above it, since 6.9 if FRED is configured (TOP_OF_KERNEL_STACK_PADDING) */
#define FRED_WORDS 2
#define USER_CS 0x33 /* arch/x86/include/asm/segment.h */
#define USER32_CS 0x23
#define USER_SS 0x2b
#define PREEMPT_NMI_MASK 0xf00000 /* include/linux/preempt.h */

enum { AX = 0, SP = 4, BP = 5, IP = 16 }; /* enum kvm_reg, arch/x86/include/asm/kvm_host.h */

/* Where a sample with its stacks is assembled. */
struct scratch {
	struct sampler_record record;
	struct sampler_stacks stacks;
	/* Always less than SAMPLER_STACK_BYTES are used, and never more than one page beyond. */
	__u8 data[SAMPLER_STACK_BYTES + PAGE_BYTES];
	__u64 used;
	__u64 link, last_link, link_page, link_page_hva, link_pages; /* for guest_links.h */
};

/*
 * Functions that are not static are verified once, separately, and not at each call.
 *
 * Where the VMM has mapped the BYTES from GPA on; 0: not all of them are in one slot. The largest
 * slots come first.
 */
__noinline __u64 hva_of(struct sampler_vm *vm, __u64 gpa, __u64 bytes)
{
	if (!vm)
		return 0;
	for (__u32 i = 0; i < SAMPLER_MAX_SLOTS && i < vm->slot_count; i++) {
		const struct sampler_slot *slot = &vm->slots[i & (SAMPLER_MAX_SLOTS - 1)];
		__u64 at = gpa - slot->gpa;

		if (at < slot->bytes)
			return bytes <= slot->bytes - at ? slot->hva + at : 0;
	}
	return 0;
}

/* The only way to guest memory: what is in no slot is the VMM's own. */
static __always_inline bool read_gpa(struct sampler_vm *vm, __u64 gpa, void *data, __u32 size)
{
	return read_hva(vm, hva_of(vm, gpa, size), data, size);
}

/* The guest physical address of GVA in these page tables; NOT_MAPPED: they do not map it. */
__noinline __u64 walk(struct sampler_vm *vm, __u64 table, __u64 gva)
{
	__u64 entry = 0, bytes = 0;

	if (!vm)
		return NOT_MAPPED;
	table &= ADDRESS_MASK;
	for (__u32 i = 0; i < 5; i++) {
		__u32 level = 5 - i, shift = PAGE_BITS + LEVEL_BITS * (level - 1);

		if (level > vm->current.levels)
			continue;
		table += (gva >> shift & ((1 << LEVEL_BITS) - 1)) * sizeof(entry);
		if (!read_gpa(vm, table, &entry, sizeof(entry)) || !(entry & PAGE_PRESENT))
			return NOT_MAPPED;
		table = entry & ADDRESS_MASK;
		bytes = 1ull << shift;
		if (level == 1 || (level <= 3 && entry & PAGE_LARGE))
			break;
	}
	return (table & ~(bytes - 1)) | (gva & (bytes - 1));
}

/* The same for the kernel's addresses, using its own page tables. */
static __always_inline __u64 walk_kernel(struct sampler_vm *vm, __u64 gva)
{
	return IS_KERNEL(gva) ? walk(vm, vm->current.page_tables, gva) : NOT_MAPPED;
}

static __always_inline bool read_kernel(struct sampler_vm *vm, __u64 gva, void *data, __u32 size)
{
	return read_gpa(vm, walk_kernel(vm, gva), data, size);
}

/* Where the vCPU keeps its pointer to the current task. The last result is cached. */
static __always_inline __u64 find_current(struct sampler_thread *thread, struct sampler_vm *vm,
					  __u64 gs_base)
{
	__u64 gva = gs_base + vm->current.task_offset;

	if (thread->current_gva != gva || thread->version != vm->version) {
		thread->current_hva = hva_of(vm, walk_kernel(vm, gva), sizeof(gva));
		thread->current_gva = gva;
		thread->version = vm->version;
	}
	return thread->current_hva;
}

static __always_inline bool read_task(struct sampler_vm *vm, struct sampler_record *record)
{
	/* A task_struct is contiguous in physical memory: kmem_cache_create(), kernel/fork.c. */
	__u64 task = walk_kernel(vm, record->task);

	return task != NOT_MAPPED &&
	       read_gpa(vm, task + vm->current.task_pid, &record->pid, sizeof(record->pid)) &&
	       read_gpa(vm, task + vm->current.task_tgid, &record->tgid, sizeof(record->tgid)) &&
	       read_gpa(vm, task + vm->current.task_comm, record->comm, sizeof(record->comm)) &&
	       read_gpa(vm, task + vm->current.task_mm, &record->mm, sizeof(record->mm)) &&
	       record->pid <= GUEST_PID_MAX && record->tgid <= GUEST_PID_MAX;
}

/* Finds the task that runs on the vCPU. */
static __always_inline void find_task(struct sampler_thread *thread, struct sampler_vm *vm,
				      __u64 gs_base, struct sampler_record *record)
{
	if (!vm->current.page_tables || !gs_base ||
	    !read_hva(vm, find_current(thread, vm, gs_base), &record->task, sizeof(record->task)))
		return;
	if (read_task(vm, record))
		record->flags |= SAMPLER_TASK;
}

/*
 * Appends SIZE bytes of guest memory, within one page, to SCRATCH. False: there is no room, or no
 * such memory.
 */
__noinline int copy_page(struct scratch *scratch, struct sampler_vm *vm, __u64 table, __u64 gva,
			 __u64 size)
{
	__u64 hva = hva_of(vm, walk(vm, table, gva), size), used;

	if (!scratch || !hva || size > PAGE_BYTES)
		return 0;
	used = scratch->used;
	if (used >= SAMPLER_STACK_BYTES || used + size > SAMPLER_STACK_BYTES)
		return 0;
	if (!read_hva(vm, hva, &scratch->data[used], size))
		return 0;
	scratch->used = used + size;
	return 1;
}

/* Copies the stack from GVA to END, or as far as it is mapped; NUMBER is below SAMPLER_STACKS. */
static __always_inline void copy_stack(struct scratch *scratch, __u32 number,
				       struct sampler_vm *vm, __u64 table, __u64 gva, __u64 end)
{
	struct sampler_stack *stack = &scratch->stacks.stacks[number];

	stack->gva = gva;
	stack->end = end;
	for (__u32 i = 0; i < MAX_STACK_PAGES && gva < end; i++) {
		__u64 size = PAGE_BYTES - (gva & (PAGE_BYTES - 1));

		if (size > end - gva)
			size = end - gva;
		if (!copy_page(scratch, vm, table, gva, size))
			break;
		gva += size;
	}
	stack->bytes = gva - stack->gva;
}

#include "bpf/guest_links.h"

/*
 * hardirq_stack_ptr is the end, or one word below it: arch/x86/kernel/irq_64.c, before and since
 * 5.12.
 */
static __always_inline __u64 end_of_irq_stack(__u64 pointer)
{
	return (pointer + sizeof(pointer)) & ~(__u64)(PAGE_BYTES - 1);
}

/*
 * If SP is on the IRQ stack, returns where the kernel was interrupted, which is the stack's last
 * word; otherwise 0.
 */
static __always_inline __u64 find_interrupted(struct sampler_vm *vm, __u64 gs_base, __u64 sp,
					      __u64 *ret_end)
{
	__u64 end = 0, previous = 0;

	if (!vm->current.irq_stack_offset ||
	    !read_kernel(vm, gs_base + vm->current.irq_stack_offset, &end, sizeof(end)))
		return 0;
	end = end_of_irq_stack(end);
	/* IRQ_STACK_SIZE is THREAD_SIZE: asm/page_64_types.h */
	if (end - sp > vm->current.stack_bytes ||
	    !read_kernel(vm, end - sizeof(end), &previous, sizeof(previous)))
		return 0;
	*ret_end = end;
	return previous;
}

/*
 * Copies kernel stacks, starting at SP, or at BP if only that is known: the one in use and, if that
 * is an IRQ stack, also the task's stack that it interrupted. False: the stack may not be the
 * task's: while the kernel switches tasks, it already uses the next task's stack before `current`
 * changes.
 */
static __always_inline bool copy_kernel_stacks(struct scratch *scratch, struct sampler_vm *vm,
					       __u64 gs_base, __u64 sp, __u64 task_stack)
{
	__u64 end = 0, task_end = task_stack + vm->current.stack_bytes, previous;

	if (task_stack && sp - task_stack < vm->current.stack_bytes) {
		copy_stack(scratch, 0, vm, vm->current.page_tables, sp, task_end);
		return true;
	}
	previous = find_interrupted(vm, gs_base, sp, &end);
	if (!end && knows_sp_and_cr3()) /* another stack; BP would be just a number */
		end = sp + vm->current.stack_bytes;
	copy_stack(scratch, 0, vm, vm->current.page_tables, sp, end ? end : sp);
	if (!previous || !task_stack || previous - task_stack >= vm->current.stack_bytes)
		return false;
	copy_stack(scratch, 1, vm, vm->current.page_tables, previous, task_end);
	return true;
}

/*
 * Whether SP is in the task's stack, or in the IRQ stack that ends at *RET_IRQ_END (0: not in use),
 * except while the code at IP is one of the few that use another stack (unwind/table/calls.h).
 * Until a task switch is complete, the run queue's task is already the next one while `current` is
 * not. Everything that runs on the stack of an NMI or an exception (except entry code) counts as an
 * NMI.
 */
static __always_inline bool knows_stacks(struct sampler_vm *vm, __u64 gs_base, __u64 task,
					 __u64 *ret_irq_end)
{
	__u64 next = 0, end = 0;
	__u32 preempt = 0, use = 0, bytes = vm->current.irq_use_bytes == 1 ? 1 : sizeof(use);

	if (!vm->current.irq_use_bytes ||
	    !read_kernel(vm, gs_base + vm->current.run_queue_task_offset, &next, sizeof(next)) ||
	    !read_kernel(vm, gs_base + vm->current.preempt_count_offset, &preempt,
			 sizeof(preempt)) ||
	    !read_kernel(vm, gs_base + vm->current.irq_use_offset, &use, bytes) ||
	    next != task || preempt & PREEMPT_NMI_MASK)
		return false;
	if (use == vm->current.irq_unused)
		return true;
	if (!read_kernel(vm, gs_base + vm->current.irq_stack_offset, &end, sizeof(end)))
		return false;
	*ret_irq_end = end_of_irq_stack(end);
	return true;
}

/* Copies all stacks that may contain SP; false: they are not known for certain. */
static __always_inline bool copy_whole_stacks(struct scratch *scratch, struct sampler_vm *vm,
					      __u64 gs_base, struct sampler_record *record,
					      __u64 task_stack)
{
	__u64 end = 0, bytes = vm->current.stack_bytes;

	if (!task_stack || !knows_stacks(vm, gs_base, record->task, &end))
		return false;
	if (end) { /* IRQ_STACK_SIZE is THREAD_SIZE: asm/page_64_types.h */
		copy_stack(scratch, 0, vm, vm->current.page_tables, end - bytes, end);
		copy_stack(scratch, 1, vm, vm->current.page_tables, task_stack, task_stack + bytes);
	} else {
		copy_stack(scratch, 0, vm, vm->current.page_tables, task_stack, task_stack + bytes);
	}
	if (scratch->used != (end ? 2 * bytes : bytes)) {
		scratch->used = scratch->stacks.stacks[0].bytes = scratch->stacks.stacks[1].bytes =
			0;
		return false;
	}
	record->flags |= SAMPLER_WHOLE_STACKS;
	return true;
}

/*
 * Finds CS, flags, SP and SS of user code in a struct pt_regs whose last word ends at END (a gpa);
 * 0: they are not there. *RET_BP: the user's BP.
 */
static __always_inline __u64 user_sp_below(struct sampler_vm *vm, __u64 end, __u64 *ret_bp)
{
	__u64 words[PT_REGS_WORDS - PT_REGS_CS] = {}, cs;

	if (!read_gpa(vm, end - sizeof(words), words, sizeof(words)))
		return 0;
	cs = words[0] & 0xffff; /* FRED stores more in the upper bits */
	if ((cs != USER_CS && cs != USER32_CS) ||
	    (words[PT_REGS_SS - PT_REGS_CS] & 0xffff) != USER_SS ||
	    !read_gpa(vm, end - (PT_REGS_WORDS - PT_REGS_BP) * sizeof(*words), ret_bp,
		      sizeof(*ret_bp)))
		return 0;
	return IS_KERNEL(words[PT_REGS_SP - PT_REGS_CS]) ? 0 : words[PT_REGS_SP - PT_REGS_CS];
}

/*
 * The user's stack pointer, and BP, from the struct pt_regs at the end of the kernel stack; 0:
 * there is none.
 */
static __always_inline __u64 find_user_sp(struct sampler_vm *vm, __u64 task_stack, __u64 *ret_bp)
{
	__u64 last = walk_kernel(vm, task_stack + vm->current.stack_bytes - sizeof(__u64));
	__u64 sp;

	if (last == NOT_MAPPED)
		return 0;
	sp = user_sp_below(vm, last + sizeof(__u64), ret_bp);
	return sp ? sp
		  : user_sp_below(vm, last + sizeof(__u64) - FRED_WORDS * sizeof(__u64), ret_bp);
}

/*
 * The page tables of the task's process. While the kernel switches tasks, those in use already
 * belong to the next task. If they are the ones that the mm had before, nothing is read. Without
 * CR3 there is nothing to compare with, and another mm may have taken the same address.
 */
static __always_inline __u64 find_user_tables(struct sampler_thread *thread, struct sampler_vm *vm,
					      const struct sampler_record *record)
{
	__u64 tables = record->page_tables & ADDRESS_MASK, pgd = 0;

	if (knows_sp_and_cr3() && thread->mm == record->mm && thread->mm_tables == tables)
		return tables;
	if (!read_kernel(vm, record->mm + vm->current.mm_pgd, &pgd, sizeof(pgd)))
		return NOT_MAPPED;
	thread->mm = record->mm;
	thread->mm_tables = IS_KERNEL(pgd) ? walk(vm, vm->current.page_tables, pgd) : NOT_MAPPED;
	return thread->mm_tables;
}

/* For a guest that is not Linux, only the stack in use is known. */
static __always_inline void copy_own_stack(struct scratch *scratch, struct sampler_vm *vm,
					   __u64 tables, __u64 sp, __u64 bp)
{
	copy_stack(scratch, SAMPLER_STACKS - 1, vm, tables, sp, sp + max_user_bytes(vm));
	copy_links(scratch, vm, tables, bp);
}

/* The registers must already be in SCRATCH. */
static __always_inline void copy_stacks(struct scratch *scratch, struct sampler_thread *thread,
					struct sampler_vm *vm, __u64 gs_base,
					struct sampler_record *record)
{
	__u64 sp = scratch->stacks.registers[knows_sp_and_cr3() ? SP : BP], task_stack = 0;
	__u64 bp = scratch->stacks.registers[BP];
	bool known;

	if (record->flags & SAMPLER_USER || !vm->current.page_tables) {
		copy_own_stack(scratch, vm,
			       knows_sp_and_cr3() ? record->page_tables
							  : find_user_tables(thread, vm, record),
			       sp, bp);
		return;
	}
	if (record->flags & SAMPLER_TASK)
		read_kernel(vm, record->task + vm->current.task_stack, &task_stack,
			    sizeof(task_stack));
	if (copies_whole_stacks() && copy_whole_stacks(scratch, vm, gs_base, record, task_stack))
		known = true;
	else
		known = copy_kernel_stacks(scratch, vm, gs_base, sp, task_stack);
	if (!known || !record->mm)
		return;
	sp = find_user_sp(vm, task_stack, &bp);
	if (sp)
		copy_own_stack(scratch, vm, find_user_tables(thread, vm, record), sp, bp);
}

#endif
