/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64: where a guest's kernel says what a CPU of it runs. The caged process finds it
 * (guest/process/running.h), its owner hands it on, and the BPF program goes by it; addresses and
 * offsets are the guest's word.
 */
#ifndef BPF_GUEST_CURRENT_H
#define BPF_GUEST_CURRENT_H

#include <linux/types.h>

struct guest_current {
	/*
	 * gpa of the kernel's own page tables: they map all of its addresses, at any time. 0: it is
	 * no Linux, the vCPU's are taken, and nothing is known of tasks.
	 */
	__u64 page_tables;
	__u32 levels; /* of them: 4 or 5 */
	__u32 task_pid, task_tgid, task_comm, task_mm; /* where they are in a task_struct */
	__u32 mm_pgd; /* and the address of a process's page tables in its mm_struct */
	/*
	 * Of kernel stacks, for call chains: where in a task_struct the stack's address is, and its
	 * size; 0: not known.
	 */
	__u32 task_stack, stack_bytes;
	__s64 task_offset; /* from the GS base to the pointer to the current task_struct */
	__s64 irq_stack_offset; /* from the GS base to hardirq_stack_ptr; 0: not known */
	/*
	 * Where it is said which stack is in use, from the GS base, too; irq_use_bytes 0: not
	 * known.
	 */
	__s64 run_queue_task_offset; /* the task that this CPU is about to run, or runs */
	__s64 preempt_count_offset;
	__s64 irq_use_offset; /* of a number: irq_unused while the IRQ stack is not in use */
	__u32 irq_use_bytes, irq_unused;
};

#endif
