/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by guest_sampler.bpf.c and its loader in src/host. */
#ifndef BPF_GUEST_SAMPLER_H
#define BPF_GUEST_SAMPLER_H

#include <linux/types.h>

#include "bpf/guest_current.h"

#define SAMPLER_MAX_THREADS 65536
/* whose guest processes are recorded; the loader makes room for fewer */
#define SAMPLER_MAX_VMS 65536
#define SAMPLER_MAX_SLOTS 32 /* the largest slots of a VM; a power of two */
#define SAMPLER_COMM_BYTES 16
#define SAMPLER_REGISTERS 16 /* in KVM's order: AX CX DX BX SP BP SI DI R8 … R15 */
#define SAMPLER_STACKS 3
#define SAMPLER_STACK_BYTES 65536 /* all stacks of a sample together; a power of two */

/* pairs of saved frame pointer and return address, which follow the copied stacks */
#define SAMPLER_LINKS 256
#define SAMPLER_LINK_BYTES 16
#define SAMPLER_ABOVE_LINKS_BYTES 1024

/*
 * Offsets, in bytes, of what a sample of a running vCPU's guest is made of; see vm_files.h for how
 * they are found.
 */
struct sampler_layout {
	__u32 vcpu_arch, vcpu_kvm;	  /* of struct kvm_vcpu */
	__u32 kvm_mm, task_mm;
	__u32 arch_handling_intr; /* u8: set while KVM handles an interrupt from the guest */
	__u32 arch_hflags;
	__u32 arch_regs_avail;		  /* u32: which of arch_regs are current, for VMX */
	__u32 has_vmcb;			  /* SVM; otherwise the VMCB fields are not set */
	/* of struct vcpu_svm: vmcb (a pointer), and vmcb01.ptr */
	__u32 svm_vmcb, svm_vmcb01;
	__u32 vmcb_exit_code;		  /* of struct vmcb */
	__u32 vmcb_rip, vmcb_cr3, vmcb_cpl, vmcb_gs_base, vmcb_kernel_gs_base;
	__u32 vmcb_rsp, vmcb_rax;
	__u32 arch_regs; /* u64[]; on SVM, AX, SP and IP are in the VMCB instead */
};

/* A sampled thread; the key is process << 32 | thread. */
struct sampler_thread {
	__u64 passed; /* total number of samples that were let through to a ring */
	__u64 vcpu;   /* struct kvm_vcpu; 0: not known, perf takes its samples */
	__u32 number; /* assigned by the owner */
	__u32 vm;     /* index of struct sampler_vm; SAMPLER_MAX_VMS: none */
	__u32 vcpu_number;
	__u32 reserved;
	/* Where this vCPU's pointer to the current task was last found. */
	__u64 current_gva, current_hva;
	__u64 version; /* the VM's version for which this is valid */
	__u64 mm, mm_tables; /* an mm_struct, and the gpa of its page tables */
	__u64 cost_ns; /* total time for samples taken by the program itself */
};

/*
 * Where a vCPU has its per-CPU variables, if registers do not show it; the key is
 * SAMPLER_CPU_KEY(). There are at most as many as there are threads.
 */
struct sampler_cpu {
	__u64 version; /* the VM's version for which this is valid */
	__u64 gs_base;
};
#define SAMPLER_CPU_KEY(vm, vcpu_number) ((__u64)(vm) << 32 | (__u32)(vcpu_number))

struct sampler_slot {
	__u64 gpa, bytes, hva;
};

/* How to find the current task of a guest's vCPU. Replaced as a whole, with a new `version`. */
struct sampler_vm {
	__u64 version; /* 0: nothing is known */
	struct guest_current current;
	__u32 slot_count;
	struct sampler_slot slots[SAMPLER_MAX_SLOTS];
	__u64 version_again; /* equals version unless the struct is being replaced */
};

#define SAMPLER_AREAS 128 /* executable mappings of a process that a record has at most */

enum {
	SAMPLER_USER = 1,    /* CPL 3 */
	SAMPLER_AT_EXIT = 2, /* the exit was not an interrupt: the time belongs to what caused it */
	SAMPLER_NESTED = 4,  /* from a guest in the guest */
	SAMPLER_TASK = 8,    /* task, mm, pid, tgid and comm are set */
	SAMPLER_STACKS_TAKEN = 16, /* a struct sampler_stacks follows the record */
	SAMPLER_NO_SP = 32, /* SP is not among the registers; stacks begin where BP points */
	SAMPLER_WHOLE_STACKS = 64, /* kernel stacks are copied whole; one of them contained SP */
	SAMPLER_LOADING = 256, /* the task has not begun with its program: it has no user code */
	/* not a sample: a struct sampler_areas follows, of the process that the next one is of */
	SAMPLER_MAPPINGS = 128,
};

/* A sample of a guest. */
struct sampler_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 ip;
	__u64 period;
	__u64 page_tables; /* CR3 as the guest has it, including flag bits; 0: not known */
	__u64 task, mm;	   /* guest kernel addresses */
	__u32 pid, tgid;
	char comm[SAMPLER_COMM_BYTES];
	__u32 number; /* the thread's */
	__u32 cpu;
	__u32 flags;
	/* low bits of the VM's version when the sample was taken; 0: nothing was known */
	__u32 version;
};

/* The part of a stack that was copied. */
struct sampler_stack {
	__u64 gva;   /* of its first byte */
	__u64 end;   /* end of the stack, exclusive, if known; else the end of the copy */
	__u32 bytes; /* copied */
	__u32 reserved;
};

/*
 * The data for call chains, followed by the bytes of its stacks, one after another. They are
 * followed by what was copied from further up the user's stack: pairs of two words, the first of
 * which is the address of the next pair, and what is above the last pair.
 */
struct sampler_stacks {
	__u64 registers[SAMPLER_REGISTERS];
	struct sampler_stack stacks[SAMPLER_STACKS]; /* innermost first; the user's is last */
	__u64 first_link; /* gva of the first pair */
	__u32 links, above_links_bytes;
};

/* An executable mapping of a guest process, and the kernel's structures that show its file. */
struct sampler_area {
	__u64 start, end, flags, page; /* vm_flags; vm_pgoff */
	__u64 private_data;		/* of a mapping without a file */
	/* of one with a file, else 0: its struct address_space, dentry, vfsmount and inode */
	__u64 contents, dentry, mount, inode;
	/* that of the inode that CONTENTS belongs to */
	__u64 inode_number;
	__u32 inode_generation, reserved;
};

/* All executable mappings that the process has at the moment. */
struct sampler_areas {
	__u64 vdso_image;  /* its struct vdso_image; 0: not known */
	__u64 start_stack; /* SP when its program was entered */
	__u32 count, reserved;
	struct sampler_area items[SAMPLER_AREAS];
};

#endif
