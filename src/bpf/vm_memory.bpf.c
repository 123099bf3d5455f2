// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds a VM's memory slots, and the registers that determine how its vCPUs translate addresses,
 * using an iterator over open files. It runs twice: first the file named by the loader leads to the
 * VM, then the files of that VM's vCPUs lead to their registers.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/vm_files.h"
#include "bpf/vm_memory.h"
#include "bpf/kvm_files.bpf.h"
#include "bpf/kvm_slots.bpf.h"

#define HF_GUEST_MASK (1u << 0) /* arch/x86/include/asm/kvm_host.h, up to 7.0 at least */

char LICENSE[] SEC("license") = "GPL";

const volatile struct vm_files_layout layout;
const volatile struct vm_memory_layout memory_layout;

/* Set by the loader: the file to look for. */
__u32 wanted_pid, wanted_fd;

/* Results. */
__u64 found_kvm;
__u32 slots_valid;
__u32 slot_count; /* may exceed the maximum: then some are missing */
struct vm_memory_slot slots[VM_MEMORY_MAX_SLOTS];
__u32 vcpu_count;
struct vm_memory_vcpu vcpus[VM_MEMORY_MAX_VCPUS];

static __always_inline void visit_slot(struct walk *walk, __u64 slot)
{
	__u32 number = slot_count++;
	struct vm_memory_slot *to = &slots[number & (VM_MEMORY_MAX_SLOTS - 1)];

	(void)walk;
	if (number >= VM_MEMORY_MAX_SLOTS)
		return;
	to->base_gfn = read_word(slot + memory_layout.slot_base_gfn);
	to->pages = read_word(slot + layout.slot_npages);
	to->userspace_addr = read_word(slot + memory_layout.slot_userspace_addr);
}

static __always_inline void read_slots(bool hashed)
{
	struct walk walk = { 0 };

	slot_count = 0;
	slots_left = VM_MEMORY_MAX_SLOTS + 1;
	slots_valid = visit_slots(found_kvm, hashed, &walk);
}

static __always_inline void read_registers(__u64 vcpu, struct vm_memory_vcpu *to)
{
	__u64 vmcb = read_word(vcpu + memory_layout.svm_vmcb);
	__u64 arch = vcpu + memory_layout.vcpu_arch;

	to->cr3 = read_word(vmcb + memory_layout.vmcb_cr3);
	to->gs_base = read_word(vmcb + memory_layout.vmcb_gs_base);
	to->cpl = read_byte(vmcb + memory_layout.vmcb_cpl);
	to->mp_state = read_u32(arch + memory_layout.arch_mp_state);
	bpf_probe_read_kernel(to->registers, sizeof(to->registers),
			      (void *)(unsigned long)(arch + memory_layout.arch_regs));
}

static __always_inline void read_vcpu(__u64 vcpu)
{
	__u32 number = vcpu_count++;
	struct vm_memory_vcpu *to = &vcpus[number & (VM_MEMORY_MAX_VCPUS - 1)];
	__u64 arch = vcpu + memory_layout.vcpu_arch;

	if (number >= VM_MEMORY_MAX_VCPUS)
		return;
	to->number = read_u32(vcpu + layout.vcpu_id);
	to->cr0 = read_word(arch + memory_layout.arch_cr0);
	to->cr4 = read_word(arch + memory_layout.arch_cr4);
	to->efer = read_word(arch + memory_layout.arch_efer);
	to->nested = read_u32(arch + memory_layout.arch_hflags) & HF_GUEST_MASK;
	to->cr3 = 0;
	if (memory_layout.is_svm)
		read_registers(vcpu, to);
}

/* Returns the file's VM, or 0 if it is not KVM's. *RET_VCPU: the vCPU, if it is a vCPU's file. */
static __always_inline __u64 vm_of_file(const struct file *file, __u64 *ret_vcpu)
{
	__u64 object = (unsigned long)file->private_data;
	int kind = kvm_file_kind(file);

	*ret_vcpu = kind == 2 ? object : 0;
	if (kind == 2)
		return read_word(object + layout.vcpu_kvm);
	return kind == 1 ? object : 0;
}

static __always_inline int look(struct bpf_iter__task_file *context, bool hashed)
{
	struct task_struct *task = context->task;
	struct file *file = context->file;
	__u64 kvm, vcpu;

	if (!task || !file)
		return 0;
	if (pid_number(BPF_CORE_READ(task, group_leader, thread_pid)) != wanted_pid)
		return 0;
	kvm = vm_of_file(file, &vcpu);
	/* A process that inherited the file, or executed another program, has other memory. */
	if (!kvm || read_word(kvm + layout.kvm_mm) != (unsigned long)task->mm)
		return 0;
	if (!found_kvm && context->fd == wanted_fd) {
		found_kvm = kvm;
		read_slots(hashed);
	} else if (found_kvm && kvm == found_kvm && vcpu) {
		read_vcpu(vcpu);
	}
	return 0;
}

SEC("iter/task_file")
int look_at_hashed_slots(struct bpf_iter__task_file *context)
{
	return look(context, true);
}

SEC("iter/task_file")
int look_at_slot_array(struct bpf_iter__task_file *context)
{
	return look(context, false);
}
