/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tinyvm and its unikernel agree on: addresses, ports, modes, the boot info page and
 * the area of each vCPU. Included by both sides and by the start code (assembler).
 *
 * Guest physical memory is two memory slots:
 *	0 .. low RAM		boot info page, page tables, the unikernel from IMAGE_GPA on
 *	STACK_GPA ..		the vCPUs' stacks
 * Guest virtual memory:
 *	0 .. low RAM		identity, 2 MiB pages, kernel only
 *	segments of the ELF	4 KiB pages, p_vaddr to p_paddr with the segment's permissions;
 *				in the lower half of the address space open to CPL 3
 *	STACK_GVA (4 levels) or STACK_GVA_LA57 (5 levels: out of the reach of 4)
 *				stacks, 4 KiB pages, in DESCENDING physical order, so that a
 *				reader that does not translate each page reads the wrong one
 *	DEVICE_GVA		a page at DEVICE_GPA, where no memory is: the VMM emulates it
 */
#ifndef TINYVM_GUESTABI_H
#define TINYVM_GUESTABI_H

#define PAGE_BYTES 4096

#define MAX_VCPUS 64

#define BOOT_INFO_GPA 0x1000
#define TABLES_GPA 0x2000 /* page tables grow up from here */
#define TABLES_END_GPA 0xa0000
#define IMAGE_GPA 0x100000 /* the lowest p_paddr of a segment */
#define STACK_GPA 0x100000000

#define DEVICE_GPA 0xe0000000

#define IDENTITY_END_GVA 0x40000000 /* no segment below: also the most low RAM there can be */
#define DEVICE_GVA 0xffffb00000000000
#define STACK_GVA 0xffffc90000000000
#define STACK_GVA_LA57 0xffa0000000000000
#define STACK_STRIDE_BYTES 0x10000 /* the lower half of a stride is a hole: a guard */
#define STACK_BYTES 0x8000

/* Selectors; the order of the user's is the one that SYSRET wants. */
#define KERNEL_CODE 0x08
#define KERNEL_DATA 0x10
#define USER_BASE 0x18
#define USER_DATA 0x20
#define USER_CODE 0x28
#define TASK_STATE 0x30

/* OUT of EAX to these is a call of the VMM; 8-bit ports need no register. */
#define PORT_SLEEP 0xe0 /* EAX: microseconds */
#define PORT_NOTHING 0xe8
#define PORT_FAULT 0xe4 /* RSP points to a struct fault_frame; does not return */

/* Offsets in struct vcpu_area for the start code. */
#define AREA_KERNEL_RSP 32

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

#define BOOT_MAGIC 0x4d56594e49545650 /* "PVTINYVM" */

enum boot_mode {
	BOOT_MODE_LOOP,
	BOOT_MODE_DEEP,
	BOOT_MODE_IDLE,
	BOOT_MODE_USER,
	BOOT_MODE_FAULT,
	BOOT_MODE_EXITS,
};

/* What a vCPU does in mode "exits", once it may, each in a function of its own. */
#define EXITS_PORT_WRITES 700
#define EXITS_MSR_WRITES 500
#define EXITS_HYPERCALLS 300
#define EXITS_DEVICE_WRITES 200
#define EXITS_DEVICE_READS 100
#define EXITS_HYPERCALL_NUMBER 1 /* KVM_HC_VAPIC_POLL_IRQ: KVM answers, and does nothing */

/* The page at BOOT_INFO_GPA; its address is in RDI at the entry, the vCPU's index in RSI. */
struct boot_info {
	uint64_t magic;
	uint64_t vcpu_count;
	uint64_t mode; /* enum boot_mode */
	uint64_t go;   /* mode "exits" waits until the VMM sets it */
};

struct task_state {
	uint32_t reserved0;
	uint64_t rsp[3];
	uint64_t reserved1;
	uint64_t ist[7];
	uint64_t reserved2;
	uint16_t reserved3;
	uint16_t io_map_offset;
} __attribute__((packed));

/*
 * The unikernel's symbol "vcpu_areas" is an array of MAX_VCPUS of these; GS base of vCPU n is the
 * address of entry n. The counters are of completed rounds, and of the time stamp counter's ticks
 * that they took (those at CPL 3 with the way there and back): the truth for tests. What an
 * emulator makes of functions with the same instructions is not equally fast.
 */
struct vcpu_area {
	uint64_t index;
	uint64_t rounds_a;
	uint64_t rounds_b;
	uint64_t rounds_user;
	uint64_t kernel_rsp; /* while the vCPU is at CPL 3 */
	uint64_t ticks_a;
	uint64_t ticks_b;
	uint64_t ticks_user;
	uint64_t gdt[8];
	struct task_state tss;
	uint8_t fault_stack[512] __attribute__((aligned(16)));
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct vcpu_area, kernel_rsp) == AREA_KERNEL_RSP, "start.S");

/* What the exception entry leaves on the stack, for vectors with and without error code. */
struct fault_frame {
	uint64_t vector;
	uint64_t error;
	uint64_t rip;
	uint64_t cs;
	uint64_t rflags;
	uint64_t rsp;
	uint64_t ss;
};

#endif /* __ASSEMBLER__ */
#endif
