/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64: where a guest's kernel keeps what each of its CPUs is running. The caged process finds
 * this (guest/process/running.h), its owner passes it on, and the BPF program uses it. Addresses
 * and offsets come from the guest and are not trusted.
 */
#ifndef BPF_GUEST_CURRENT_H
#define BPF_GUEST_CURRENT_H

#include <linux/types.h>

/*
 * Where the mappings of a process are (struct vm_area_struct), as offsets in the guest's
 * structures; area_end 0: not known. They are in a maple tree (tree, since 6.1) or in a list (list
 * and area_next, before).
 */
struct guest_areas {
	__u32 tree, list; /* in mm_struct: the root of the tree, or the first of the list */
	/* in mm_struct; lock is a u64 with bit 0 set while mappings may be changing */
	__u32 executable_pages, start_stack, lock, vdso_image;
	__u32 end_code; /* in mm_struct; its value is 0 until a program has been loaded */
	__u32 area_start, area_end, area_flags, area_page, area_file, area_next, area_private;
	__u32 file_contents, file_dentry, file_mount, file_inode;
	__u32 contents_inode, inode_number, inode_generation;
	/* in words of 8 bytes: in the tree's nodes, of which each has one pivot less than slots */
	__u32 range_pivot, range_slot, range_slots;
	__u32 wide_pivot, wide_slot, wide_slots;
};

struct guest_current {
	/*
	 * gpa of the kernel's own page tables, which always map all of its addresses. 0: the guest
	 * is not Linux; the vCPU's page tables are used, and nothing is known of tasks.
	 */
	__u64 page_tables;
	__u32 levels; /* of the page tables: 4 or 5 */
	__u32 task_pid, task_tgid, task_comm, task_mm; /* offsets in task_struct */
	__u32 mm_pgd; /* the offset in mm_struct of the address of the process's page tables */
	/*
	 * For kernel stacks in call chains: the offset in task_struct of the stack's address, and
	 * the stack's size; 0: not known.
	 */
	__u32 task_stack, stack_bytes;
	__s64 task_offset; /* from the GS base to the pointer to the current task_struct */
	__s64 irq_stack_offset; /* from the GS base to hardirq_stack_ptr; 0: not known */
	/*
	 * What shows which stack is in use, relative to the GS base as well; irq_use_bytes 0: not
	 * known.
	 */
	__s64 run_queue_task_offset; /* the task that this CPU is about to run, or runs */
	__s64 preempt_count_offset;
	/* of a number that equals irq_unused while the IRQ stack is not in use */
	__s64 irq_use_offset;
	__u32 irq_use_bytes, irq_unused;
	struct guest_areas areas;
};

#endif
