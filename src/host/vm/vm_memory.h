/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's physical memory, seen from the host: the VM's memory slots as KVM has them, and how to
 * read them through the address space of the VMM. Never writes.
 *
 * Finding slots requires BPF (CAP_BPF, CAP_PERFMON), or a QEMU whose monitor can be used. Reading
 * requires CAP_SYS_PTRACE or the VMM's user.
 */
#ifndef HOST_VM_VM_MEMORY_H
#define HOST_VM_VM_MEMORY_H

#include "arch/arch.h"
#include "base/error.h"
#include "base/vector.h"
#include "guest/memory/memory.h"
#include "host/system/memory_reader.h"
#include "host/vm/vm.h"

struct host_vm_slot {
	struct gpa start;
	uint64_t bytes;
	uint64_t hva; /* where the VMM has mapped it */
};

#define HOST_VM_REGISTERS 17 /* as KVM numbers them (host/system/kvm_registers.h); the last is IP */

struct host_vm_registers {
	uint32_t vcpu;
	/* runs a nested guest, so the page tables are not this guest's; unknown with QEMU */
	bool nested;
	struct arch_mmu mmu; /* CR3 is 0 if the host cannot get it (Intel, with BPF) */
	/*
	 * With BPF on AMD; for a vCPU in the guest, as of its last exit. With QEMU the GS base in
	 * user mode is the user's.
	 */
	bool has_state;
	bool halted; /* by HLT: waits for an interrupt */
	bool user;   /* CPL 3 */
	uint64_t registers[HOST_VM_REGISTERS];
	uint64_t gs_base;
};

struct host_vm_memory {
	uint32_t pid;
	uint64_t layout; /* host_process_layout(), before it was found */
	struct memory_reader *reader; /* shared */
	VECTOR(struct host_vm_slot) slots; /* ascending, not overlapping */
	VECTOR(struct host_vm_registers) registers; /* of vCPUs, as they were just now */
};

struct vm_memory_finder;

/* Loads what is needed to find slots and registers, once for many VMs; also works without BPF. */
struct vm_memory_finder *vm_memory_finder_create(void);
void vm_memory_finder_destroy(struct vm_memory_finder *finder); /* takes NULL */
/* Why there is no BPF, so that only QEMUs can be asked; NULL: there is. Borrowed. */
const struct error *vm_memory_finder_lacks(const struct vm_memory_finder *finder);

/*
 * Returns the current slots and registers. They may change at any time, so search again when it
 * matters. ERROR_PERMISSION, ERROR_UNSUPPORTED: they cannot be found now, which says nothing about
 * the guest.
 */
struct error *vm_memory_find(struct vm_memory_finder *finder, const struct host_vm *vm,
			     struct host_vm_memory *ret) MUST_CHECK;
void host_vm_memory_deinit(struct host_vm_memory *memory);

/*
 * Reads guest pages of MEMORY, which must outlive all users of the source. Fails after the process
 * has executed another program, and if it takes too long (memory_reader.h).
 */
struct guest_memory_source host_vm_memory_source(struct host_vm_memory *memory);

DEFINE_CLEANUP(cleanup_vm_memory_finder, struct vm_memory_finder *, vm_memory_finder_destroy)
#define _cleanup_vm_memory_finder_ _cleanup_(cleanup_vm_memory_finder)

#endif
