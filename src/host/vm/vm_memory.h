/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's physical memory, from the host: the VM's memory slots as KVM has them, and reading
 * them through the address space of the VMM. Only ever reading.
 *
 * Finding slots takes BPF (CAP_BPF, CAP_PERFMON), or a QEMU whose monitor can be asked; reading
 * takes CAP_SYS_PTRACE, or to be the VMM's user.
 */
#ifndef HOST_VM_VM_MEMORY_H
#define HOST_VM_VM_MEMORY_H

#include "arch/arch.h"
#include "base/error.h"
#include "base/vector.h"
#include "guest/memory/memory.h"
#include "host/vm/vm.h"

struct host_vm_slot {
	struct gpa start;
	uint64_t bytes;
	uint64_t hva; /* where the VMM has it mapped */
};

#define HOST_VM_REGISTERS 17 /* as KVM numbers them (host/system/kvm_registers.h); the last is IP */

struct host_vm_registers {
	uint32_t vcpu;
	/* it runs a guest of its own: not this guest's page tables; QEMU does not say */
	bool nested;
	struct arch_mmu mmu; /* CR3 is 0 where the host cannot say it (Intel, by BPF) */
	/*
	 * By BPF, on AMD; of a vCPU that is in the guest: as of its last exit. By QEMU: in user
	 * mode the GS base is the user's.
	 */
	bool has_state;
	bool halted; /* by HLT: waits for an interrupt */
	bool user;   /* CPL 3 */
	uint64_t registers[HOST_VM_REGISTERS];
	uint64_t gs_base;
};

struct host_vm_memory {
	uint32_t pid;
	VECTOR(struct host_vm_slot) slots; /* not overlapping, ascending */
	VECTOR(struct host_vm_registers) registers; /* of vCPUs, as they were just now */
};

struct vm_memory_finder;

/* Loads what finds slots and registers, once for many VMs; works without BPF as well. */
struct vm_memory_finder *vm_memory_finder_create(void);
void vm_memory_finder_destroy(struct vm_memory_finder *finder); /* takes NULL */
/* Why there is no BPF: only QEMUs are asked then. NULL: there is. Borrowed. */
const struct error *vm_memory_finder_lacks(const struct vm_memory_finder *finder);

/*
 * As they are now. Slots and registers may change at any time: find again when it matters.
 * ERROR_PERMISSION, ERROR_UNSUPPORTED: no way leads to them now, which says nothing about the
 * guest.
 */
struct error *vm_memory_find(struct vm_memory_finder *finder, const struct host_vm *vm,
			     struct host_vm_memory *ret) MUST_CHECK;
void host_vm_memory_deinit(struct host_vm_memory *memory);

/* Reads guest pages of MEMORY, which must outlive what uses the source. */
struct guest_memory_source host_vm_memory_source(struct host_vm_memory *memory);

DEFINE_CLEANUP(cleanup_vm_memory_finder, struct vm_memory_finder *, vm_memory_finder_destroy)
#define _cleanup_vm_memory_finder_ _cleanup_(cleanup_vm_memory_finder)

#endif
