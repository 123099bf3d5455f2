/* SPDX-License-Identifier: GPL-2.0-only */
/* What guest_sampler.bpf.c and its loader in src/host share. */
#ifndef BPF_GUEST_SAMPLER_H
#define BPF_GUEST_SAMPLER_H

#include <linux/types.h>

#include "bpf/guest_current.h"

#define SAMPLER_MAX_THREADS 65536
/* whose guests' processes are told; the loader makes room for fewer */
#define SAMPLER_MAX_VMS 65536
#define SAMPLER_MAX_SLOTS 32 /* of a VM, the largest; a power of two */
#define SAMPLER_COMM_BYTES 16
#define SAMPLER_REGISTERS 16 /* as KVM numbers them: AX CX DX BX SP BP SI DI R8 … R15 */
#define SAMPLER_STACKS 3
#define SAMPLER_STACK_BYTES 65536 /* of a sample, all its stacks together; a power of two */

/* pairs of saved frame pointer and return address, behind what is copied */
#define SAMPLER_LINKS 256
#define SAMPLER_LINK_BYTES 16
#define SAMPLER_ABOVE_LINKS_BYTES 1024

/*
 * Where a running vCPU keeps what a sample of its guest is made of, in bytes; see vm_files.h for
 * how found.
 */
struct sampler_layout {
	__u32 vcpu_arch;		  /* of struct kvm_vcpu */
	__u32 arch_handling_intr;	  /* u8: set while an interrupt from the guest is handled */
	__u32 arch_hflags;
	__u32 arch_regs_avail;		  /* u32: which of arch_regs are current, for VMX */
	__u32 has_vmcb;			  /* SVM; else what is of the VMCB is not there */
	/* of struct vcpu_svm: struct vmcb *, the second struct's ptr */
	__u32 svm_vmcb, svm_vmcb01;
	__u32 vmcb_exit_code;		  /* of struct vmcb */
	__u32 vmcb_rip, vmcb_cr3, vmcb_cpl, vmcb_gs_base, vmcb_kernel_gs_base;
	__u32 vmcb_rsp, vmcb_rax;
	__u32 arch_regs; /* u64[], of which SVM has AX, SP and IP in the VMCB */
};

/* A sampled thread, by process << 32 | thread. */
struct sampler_thread {
	__u64 passed; /* samples that were let through to a ring, in all */
	__u64 vcpu;   /* struct kvm_vcpu; 0: not known, its samples are perf's */
	__u32 number; /* the owner's */
	__u32 vm;     /* index of struct sampler_vm; SAMPLER_MAX_VMS: none */
	__u32 vcpu_number;
	__u32 reserved;
	/* Where this vCPU's pointer to the current task was last found. */
	__u64 current_gva, current_hva;
	__u64 version; /* of the VM that this holds for */
	__u64 mm, mm_tables; /* an mm_struct, and the gpa of its page tables */
	__u64 cost_ns; /* that samples took here which the program took itself, in all */
};

/*
 * Where a vCPU has its per-CPU variables, if registers do not say: by SAMPLER_CPU_KEY(). No more
 * are kept than there are threads.
 */
struct sampler_cpu {
	__u64 version; /* of the VM that this holds for */
	__u64 gs_base;
};
#define SAMPLER_CPU_KEY(vm, vcpu_number) ((__u64)(vm) << 32 | (__u32)(vcpu_number))

struct sampler_slot {
	__u64 gpa, bytes, hva;
};

/* How to find the current task of a guest's vCPU. Replaced as a whole; `version` changes then. */
struct sampler_vm {
	__u64 version; /* 0: nothing is known of it */
	struct guest_current current;
	__u32 slot_count;
	struct sampler_slot slots[SAMPLER_MAX_SLOTS];
	__u64 version_again; /* as version, or it is being replaced just now */
};

enum {
	SAMPLER_USER = 1,    /* CPL 3 */
	SAMPLER_AT_EXIT = 2, /* the exit was no interrupt: the time belongs to what made it */
	SAMPLER_NESTED = 4,  /* of a guest in the guest */
	SAMPLER_TASK = 8,    /* task, mm, pid, tgid and comm are set */
	SAMPLER_STACKS_TAKEN = 16, /* a struct sampler_stacks follows the record */
	SAMPLER_NO_SP = 32, /* SP of its registers is not known; stacks begin where BP points */
	SAMPLER_WHOLE_STACKS = 64, /* kernel stacks are copied whole; SP was in one of them */
};

/* A sample of a guest. */
struct sampler_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 ip;
	__u64 period;
	__u64 page_tables; /* CR3 as the guest has it, flag bits included; 0: not known */
	__u64 task, mm;	   /* guest kernel addresses */
	__u32 pid, tgid;
	char comm[SAMPLER_COMM_BYTES];
	__u32 number; /* of the thread */
	__u32 cpu;
	__u32 flags;
	__u32 version; /* low bits of the VM's: what was known of the guest; 0: nothing */
};

/* The part of a stack that was copied. */
struct sampler_stack {
	__u64 gva;   /* of its first byte */
	__u64 end;   /* of the stack, exclusive, as far as that is known; else of what was copied */
	__u32 bytes; /* copied */
	__u32 reserved;
};

/*
 * What call chains are made of; the bytes of its stacks, one after another, follow it. Behind them
 * what was copied further up in the user's stack: pairs of two words, the first of which is where
 * the next pair is; and what is above the last.
 */
struct sampler_stacks {
	__u64 registers[SAMPLER_REGISTERS];
	struct sampler_stack stacks[SAMPLER_STACKS]; /* innermost first; the user's is the last */
	__u64 first_link; /* gva of the first pair */
	__u32 links, above_links_bytes;
};

#endif
