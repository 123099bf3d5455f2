/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by vm_memory.bpf.c and its loader in src/host. */
#ifndef BPF_VM_MEMORY_H
#define BPF_VM_MEMORY_H

#include <linux/types.h>

#define VM_MEMORY_MAX_SLOTS 4096 /* a power of two; a VM with more is reported as unreadable */
#define VM_MEMORY_MAX_VCPUS 4096 /* the same (KVM_MAX_VCPUS of x86) */
#define VM_MEMORY_REGISTERS 17	 /* in KVM's order: AX CX DX BX SP BP SI DI R8 … R15, IP */

/* Offsets of a vCPU's registers, in bytes; see vm_files.h for how they are found. */
struct vm_memory_layout {
	__u32 slot_base_gfn, slot_userspace_addr;
	__u32 vcpu_arch;				 /* of struct kvm_vcpu */
	__u32 arch_cr0, arch_cr4, arch_efer, arch_hflags; /* of struct kvm_vcpu_arch */
	/* AMD: the VMCB, whose save area is up to date while the vCPU is not in the guest. */
	__u32 is_svm;
	__u32 svm_vmcb;	 /* of struct vcpu_svm, which starts with its kvm_vcpu */
	__u32 vmcb_cr3, vmcb_cpl, vmcb_gs_base; /* of struct vmcb */
	__u32 arch_regs, arch_mp_state;		/* of struct kvm_vcpu_arch, also for AMD */
};

struct vm_memory_slot {
	__u64 base_gfn, pages, userspace_addr;
};

struct vm_memory_vcpu {
	__u64 cr0, cr3, cr4, efer; /* CR3 is 0 if not available */
	__u32 number;
	__u32 nested; /* it runs a nested guest: CR3 is not the guest kernel's */
	/* AMD: as of the last exit, and correct while the vCPU is not in the guest. */
	__u64 registers[VM_MEMORY_REGISTERS];
	__u64 gs_base;
	__u32 cpl, mp_state;
};

#endif
