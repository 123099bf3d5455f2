/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In kernel mode, the GS base in effect is the kernel's. In user mode QEMU does not provide it. It
 * is then taken from the last time in kernel mode, or else from the guest's own data for the CPU
 * whose APIC id is the vCPU's number. Either can be wrong (QEMU assigns other APIC ids if the
 * number of cores is not a power of two; a guest may reboot), so a user task is trusted only if its
 * page tables are in use.
 */
#include "host/capture/guest_copy.h"

#include <string.h>
#include <sys/uio.h>

#include "base/memory.h"
#include "host/system/kvm_registers.h"
#include "host/system/process.h"

static inline bool read_hva(struct sampler_vm *vm, uint64_t hva, void *data, uint32_t size)
{
	/* the first field */
	const struct guest_copy_guest *guest = (const struct guest_copy_guest *)vm;
	struct iovec local = { data, size };
	struct iovec remote = { (void *)(uintptr_t)hva, size };

	return hva &&
	       process_vm_readv((pid_t)guest->pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static inline bool knows_sp_and_cr3(void)
{
	return true;
}

static inline bool copies_whole_stacks(void)
{
	return false;
}

static inline uint32_t max_user_bytes(struct sampler_vm *vm)
{
	return ((const struct guest_copy_guest *)vm)->user_bytes;
}

#define __noinline static /* the BPF verifier checks these separately */
#include "bpf/stacks_in_use.h"

#define PTI_USER_HALF 0x1000ull /* in CR3: selects the page tables of user mode */

struct guest_copy {
	struct sampler_thread thread;
	/* when last seen in the kernel, under this version of the guest */
	uint64_t gs_base, version;
	struct scratch scratch;
};

struct guest_copy *guest_copy_create(uint32_t vcpu)
{
	struct guest_copy *copy = memory_calloc(1, sizeof(*copy));

	copy->thread.vcpu_number = vcpu;
	return copy;
}

void guest_copy_destroy(struct guest_copy *copy)
{
	free(copy);
}

static uint64_t known_gs_base(const struct guest_copy *copy, const struct guest_copy_guest *guest)
{
	if (copy->version == guest->vm.version)
		return copy->gs_base;
	for (size_t i = 0; i < guest->cpus.count; i++)
		if (guest->cpus.items[i].apic_id == copy->thread.vcpu_number)
			return guest->cpus.items[i].base.value;
	return 0;
}

static uint64_t find_gs_base(struct guest_copy *copy, const struct guest_copy_guest *guest,
			     const struct host_vm_registers *registers)
{
	/* If it is not a kernel address, entry code has not reached SWAPGS yet. */
	if (registers->user || !IS_KERNEL(registers->gs_base))
		return known_gs_base(copy, guest);
	copy->gs_base = registers->gs_base;
	copy->version = guest->vm.version;
	return copy->gs_base;
}

/* False for another vCPU's task, and for a guest in the guest. */
static bool owns_page_tables(struct guest_copy *copy, struct guest_copy_guest *guest,
			     const struct sampler_record *record)
{
	uint64_t its = find_user_tables(&copy->thread, &guest->vm, record);

	return record->mm &&
	       (its & ~PTI_USER_HALF) == (record->page_tables & ADDRESS_MASK & ~PTI_USER_HALF);
}

static void fill_stacks(struct guest_copy *copy, struct guest_copy_guest *guest, uint64_t gs_base,
			const struct host_vm_registers *registers)
{
	struct scratch *scratch = &copy->scratch;

	memset(&scratch->stacks, 0, sizeof(scratch->stacks));
	memcpy(scratch->stacks.registers, registers->registers, sizeof(scratch->stacks.registers));
	scratch->used = 0;
	copy_stacks(scratch, &copy->thread, &guest->vm, gs_base, &scratch->record);
	scratch->record.flags |= SAMPLER_STACKS_TAKEN;
}

const struct sampler_record *guest_copy_take(struct guest_copy *copy,
					     struct guest_copy_guest *guest,
					     const struct host_vm_registers *registers, bool stacks,
					     const struct sampler_stacks **ret_stacks)
{
	struct sampler_record *record = &copy->scratch.record;
	uint64_t gs_base;

	*record = (struct sampler_record){ .ip = registers->registers[KVM_REGISTER_IP],
					   .page_tables = registers->mmu.x86.cr3,
					   .flags = registers->user ? SAMPLER_USER : 0,
					   .version = guest->vm.version };
	*ret_stacks = NULL;
	if (!guest->vm.version)
		return record;
	gs_base = find_gs_base(copy, guest, registers);
	find_task(&copy->thread, &guest->vm, gs_base, record);
	if (registers->user && record->flags & SAMPLER_TASK &&
	    !owns_page_tables(copy, guest, record))
		record->flags &= ~SAMPLER_TASK;
	if (stacks) {
		fill_stacks(copy, guest, gs_base, registers);
		*ret_stacks = &copy->scratch.stacks;
	}
	return record;
}

bool guest_copy_is_of_guest(const struct guest_copy_guest *guest)
{
	return guest->layout && host_process_layout(guest->pid, NULL) == guest->layout;
}
