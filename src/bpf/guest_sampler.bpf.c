/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs at each sample, before perf writes it. Samples of other threads are dropped (0). A sample of
 * a guest is taken here: what perf would write, and who ran in the guest; perf writes nothing
 * then. All else is left to perf (1). What goes to either ring is counted per thread: whatever of
 * that does not arrive was lost.
 *
 * One instance per event, so counts and rings are per event. A ring per CPU: no two CPUs ever
 * wait for one another, and in an NMI a ring that is taken would lose the sample.
 *
 * Registers are AMD's, from the VMCB, which is current while the vCPU is not in the guest. GS is in
 * vmcb01 whichever guest ran: VMSAVE puts it there (arch/x86/kvm/svm/svm.c).
 *
 * The guest's memory is read where the VMM has it mapped: this runs in the vCPU's thread. Nothing
 * faults: what is not there is not read. A guest may put what it likes there; nothing of it is
 * followed further than a walk through its page tables.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#include "bpf/guest_sampler.h"

#define HF_GUEST_MASK (1u << 0) /* arch/x86/include/asm/kvm_host.h, until 7.0 at least */
#define SVM_EXIT_INTR 0x060	/* arch/x86/include/uapi/asm/svm.h */
#define SVM_EXIT_NMI 0x061

#define PAGE_PRESENT (1ull << 0)
#define PAGE_LARGE (1ull << 7)
#define ADDRESS_MASK 0x000ffffffffff000ull
#define PAGE_BITS 12
#define LEVEL_BITS 9
#define IS_KERNEL(gva) ((gva) >> 63)
#define GUEST_PID_MAX (1u << 22) /* PID_MAX_LIMIT */

const volatile struct sampler_layout layout;
const volatile bool sees_guests; /* the layout is known */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SAMPLER_MAX_THREADS);
	__type(key, __u64);
	__type(value, struct sampler_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SAMPLER_MAX_VMS);
	__type(key, __u32);
	__type(value, struct sampler_vm);
} vms SEC(".maps");

/* By CPU; the loader makes one for each and sizes them. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

static __always_inline __u64 kernel_word(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(unsigned long)address);
	return value;
}

static __always_inline __u32 kernel_u32(__u64 address)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(unsigned long)address);
	return value;
}

static __always_inline __u8 kernel_byte(__u64 address)
{
	__u8 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)(unsigned long)address);
	return value;
}

/* Where the VMM has GPA mapped; 0: in no slot. Largest slots come first. */
static __noinline __u64 hva_of(struct sampler_vm *vm, __u64 gpa)
{
	if (!vm)
		return 0;
	for (__u32 i = 0; i < SAMPLER_MAX_SLOTS && i < vm->slot_count; i++) {
		const struct sampler_slot *slot = &vm->slots[i & (SAMPLER_MAX_SLOTS - 1)];

		if (gpa - slot->gpa < slot->bytes)
			return slot->hva + (gpa - slot->gpa);
	}
	return 0;
}

static __always_inline bool read_hva(__u64 hva, void *data, __u32 size)
{
	return hva && !bpf_probe_read_user(data, size, (void *)(unsigned long)hva);
}

/* Where the VMM has a kernel address of the guest mapped; 0: the guest does not map it. */
static __noinline __u64 translate(struct sampler_vm *vm, __u64 gva)
{
	__u64 table, entry = 0, bytes = 0;

	if (!vm || !IS_KERNEL(gva))
		return 0;
	table = vm->page_tables;
	for (__u32 i = 0; i < 5; i++) {
		__u32 level = 5 - i, shift = PAGE_BITS + LEVEL_BITS * (level - 1);

		if (level > vm->levels)
			continue;
		table += (gva >> shift & ((1 << LEVEL_BITS) - 1)) * sizeof(entry);
		if (!read_hva(hva_of(vm, table), &entry, sizeof(entry)) || !(entry & PAGE_PRESENT))
			return 0;
		table = entry & ADDRESS_MASK;
		bytes = 1ull << shift;
		if (level == 1 || (level <= 3 && entry & PAGE_LARGE))
			break;
	}
	return hva_of(vm, (table & ~(bytes - 1)) | (gva & (bytes - 1)));
}

/* The address at which the vCPU keeps its pointer to the current task; the last one is kept. */
static __always_inline __u64 find_current(struct sampler_thread *thread, struct sampler_vm *vm,
					  __u64 gs_base)
{
	__u64 gva = gs_base + vm->current_offset;

	if (thread->current_gva != gva || thread->version != vm->version) {
		thread->current_hva = translate(vm, gva);
		thread->current_gva = gva;
		thread->version = vm->version;
	}
	return thread->current_hva;
}

static __always_inline bool read_task(struct sampler_vm *vm, struct sampler_record *record)
{
	/* A task_struct is contiguous in physical memory: kmem_cache_create(), kernel/fork.c. */
	__u64 task = translate(vm, record->task);

	return task && read_hva(task + vm->task_pid, &record->pid, sizeof(record->pid)) &&
	       read_hva(task + vm->task_tgid, &record->tgid, sizeof(record->tgid)) &&
	       read_hva(task + vm->task_comm, record->comm, sizeof(record->comm)) &&
	       read_hva(task + vm->task_mm, &record->mm, sizeof(record->mm)) &&
	       record->pid <= GUEST_PID_MAX && record->tgid <= GUEST_PID_MAX;
}

/* Who runs on the vCPU: the per-CPU area is at GS in the kernel, at its other base in user mode. */
static __always_inline void find_task(struct sampler_thread *thread, __u64 vmcb01,
				      struct sampler_record *record)
{
	__u32 number = thread->vm;
	struct sampler_vm *vm = bpf_map_lookup_elem(&vms, &number);
	__u64 gs_base = kernel_word(vmcb01 + layout.vmcb_gs_base);

	if (!vm || !vm->version || vm->version != vm->version_again)
		return;
	/* In user mode, and where entry code has not come to SWAPGS yet. */
	if (record->flags & SAMPLER_USER || !IS_KERNEL(gs_base))
		gs_base = kernel_word(vmcb01 + layout.vmcb_kernel_gs_base);
	if (!read_hva(find_current(thread, vm, gs_base), &record->task, sizeof(record->task)))
		return;
	if (read_task(vm, record))
		record->flags |= SAMPLER_TASK;
}

static __always_inline void fill(struct sampler_thread *thread, __u64 vmcb,
				 struct sampler_record *record)
{
	__u64 exit_code = kernel_word(vmcb + layout.vmcb_exit_code);
	__u32 hflags = kernel_u32(thread->vcpu + layout.vcpu_arch + layout.arch_hflags);

	record->ip = kernel_word(vmcb + layout.vmcb_rip);
	record->page_tables = kernel_word(vmcb + layout.vmcb_cr3);
	if (kernel_byte(vmcb + layout.vmcb_cpl) == 3)
		record->flags |= SAMPLER_USER;
	if ((__u32)exit_code != SVM_EXIT_INTR && (__u32)exit_code != SVM_EXIT_NMI)
		record->flags |= SAMPLER_AT_EXIT;
	if (hflags & HF_GUEST_MASK)
		record->flags |= SAMPLER_NESTED;
	else
		find_task(thread, kernel_word(thread->vcpu + layout.svm_vmcb01), record);
}

/* Wakes the reader when a quarter of the ring is filled, not at each sample. */
static __always_inline __u64 wakeup(void *ring)
{
	__u64 available = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	return available >= bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4 ? BPF_RB_FORCE_WAKEUP
									   : BPF_RB_NO_WAKEUP;
}

static __always_inline void take(struct bpf_perf_event_data *context,
				 struct sampler_thread *thread, __u64 vmcb)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sampler_record record = {
		.time_ns = bpf_ktime_get_ns(),
		.period = context->sample_period,
		.number = thread->number,
		.cpu = cpu,
	};
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	fill(thread, vmcb, &record);
	if (ring)
		bpf_ringbuf_output(ring, &record, sizeof(record), wakeup(ring));
}

SEC("perf_event")
int sample_guest(struct bpf_perf_event_data *context)
{
	__u64 key = bpf_get_current_pid_tgid();
	struct sampler_thread *thread = bpf_map_lookup_elem(&threads, &key);
	__u64 vmcb;

	if (!thread)
		return 0;
	thread->passed++; /* a thread is on one CPU at a time */
	if (!sees_guests || !thread->vcpu ||
	    !kernel_byte(thread->vcpu + layout.vcpu_arch + layout.arch_handling_intr))
		return 1;
	vmcb = kernel_word(thread->vcpu + layout.svm_vmcb);
	if (!vmcb)
		return 1;
	take(context, thread, vmcb);
	return 0;
}

char _license[] SEC("license") = "GPL";
