/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs at each sample, before perf writes it. Drops samples of other threads (returns 0). Writes
 * samples of guests itself: what perf would write, and who ran in the guest; perf then writes
 * nothing. Leaves everything else to perf (returns 1). Counts per thread what goes to either ring:
 * whatever part of it does not arrive was lost.
 *
 * There is an instance per event, so counts and rings are per event. There is a ring per CPU, so
 * that CPUs never wait for each other; in an NMI, a ring in use would lose the sample.
 *
 * On AMD, registers come from the VMCB, which is up to date while the vCPU is not in the guest. GS
 * is in vmcb01 whichever guest ran, because VMSAVE puts it there (arch/x86/kvm/svm/svm.c). On
 * Intel, the guest state can only be read with an instruction. There the task is found by the
 * location of each vCPU's per-CPU variables, which comes from guest memory. CR3, the exit reason
 * and SP are not known on Intel; all other registers are. Whole kernel stacks are copied then, so
 * that SP can be searched for, or else what is above BP, if that is a frame pointer.
 *
 * Guest memory is read where the VMM has it mapped, since this runs in the vCPU's thread. Nothing
 * faults: memory that is not present is not read. The guest may write anything there, but nothing
 * of it is followed further than a walk through its page tables.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#include "bpf/guest_sampler.h"
#include "bpf/kernel_read.bpf.h"
#include "bpf/sampler_cost.h"

#define HF_GUEST_MASK (1u << 0) /* arch/x86/include/asm/kvm_host.h, up to 7.0 at least */
#define SVM_EXIT_INTR 0x060	/* arch/x86/include/uapi/asm/svm.h */
#define SVM_EXIT_NMI 0x061

#define VSYSCALL_START 0xffffffffff600000ull

const volatile struct sampler_layout layout;
const volatile bool sees_guests; /* the layout is known */
const volatile bool takes_stacks;
const volatile bool takes_mappings; /* of processes */
const volatile bool whole_stacks; /* copy whole kernel stacks, in which SP is searched for */
const volatile __u32 user_stack_bytes; /* how much of a user stack to copy at most */

/* Nothing faults: memory that is not present is not read. */
static __always_inline bool read_hva(struct sampler_vm *vm, __u64 hva, void *data, __u32 size)
{
	(void)vm; /* this runs in the thread of its VMM */
	return hva && !bpf_probe_read_user(data, size, (void *)(unsigned long)hva);
}

static __always_inline bool knows_sp_and_cr3(void)
{
	return layout.has_vmcb;
}

static __always_inline bool copies_whole_stacks(void)
{
	return whole_stacks;
}

static __always_inline __u32 max_user_bytes(struct sampler_vm *vm)
{
	(void)vm;
	return user_stack_bytes;
}

#include "bpf/stacks_in_use.h"

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

/* Guests say which CPUs they have, and come and go: what is not used makes room for what is. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SAMPLER_MAX_THREADS);
	__type(key, __u64);
	__type(value, struct sampler_cpu);
} cpus SEC(".maps");

/* By CPU; the loader creates and sizes them. */
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

/* By CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sampler_cost);
} costs SEC(".maps");

#include "bpf/guest_spaces.bpf.h"

/* The per-CPU area is at the GS base in the kernel, and at the other GS base in user mode. */
static __always_inline __u64 gs_base_of(__u64 vmcb01, const struct sampler_record *record)
{
	__u64 gs_base = read_word(vmcb01 + layout.vmcb_gs_base);

	/* In user mode, and in entry code before SWAPGS. */
	if (record->flags & SAMPLER_USER || !IS_KERNEL(gs_base))
		gs_base = read_word(vmcb01 + layout.vmcb_kernel_gs_base);
	return gs_base;
}

/* 0: not known. */
static __always_inline __u64 known_gs_base(const struct sampler_thread *thread,
					   const struct sampler_vm *vm)
{
	__u64 key = SAMPLER_CPU_KEY(thread->vm, thread->vcpu_number);
	const struct sampler_cpu *cpu = bpf_map_lookup_elem(&cpus, &key);

	return cpu && cpu->version == vm->version ? cpu->gs_base : 0;
}

/* NULL: nothing is known of it, or it is being replaced. */
static __always_inline struct sampler_vm *find_vm(const struct sampler_thread *thread)
{
	__u32 number = thread->vm;
	struct sampler_vm *vm = bpf_map_lookup_elem(&vms, &number);

	return vm && vm->version && vm->version == vm->version_again ? vm : NULL;
}

static __always_inline void fill(struct sampler_thread *thread, __u64 vmcb,
				 struct sampler_record *record)
{
	__u64 exit_code = read_word(vmcb + layout.vmcb_exit_code);
	__u32 hflags = read_u32(thread->vcpu + layout.vcpu_arch + layout.arch_hflags);

	record->ip = read_word(vmcb + layout.vmcb_rip);
	record->page_tables = read_word(vmcb + layout.vmcb_cr3);
	if (read_byte(vmcb + layout.vmcb_cpl) == 3)
		record->flags |= SAMPLER_USER;
	if ((__u32)exit_code != SVM_EXIT_INTR && (__u32)exit_code != SVM_EXIT_NMI)
		record->flags |= SAMPLER_AT_EXIT;
	if (hflags & HF_GUEST_MASK)
		record->flags |= SAMPLER_NESTED;
}

/*
 * For a guest whose registers are in a VMCS. The IP is valid if perf asked KVM for it before it ran
 * this program (since Linux 6.3). It also gives the mode, which is correct for Linux. False:
 * nothing is known beyond what perf knows.
 */
static __always_inline bool fill_without_vmcb(const struct sampler_thread *thread,
					      const struct sampler_vm *vm,
					      struct sampler_record *record)
{
	__u64 arch = thread->vcpu + layout.vcpu_arch;

	if (!(read_u32(arch + layout.arch_regs_avail) & 1u << IP))
		return false;
	if (read_u32(arch + layout.arch_hflags) & HF_GUEST_MASK)
		record->flags |= SAMPLER_NESTED;
	else if (!vm || !vm->current.page_tables)
		return false;
	record->ip = read_word(arch + layout.arch_regs + IP * sizeof(record->ip));
	if (!IS_KERNEL(record->ip) || record->ip - VSYSCALL_START < PAGE_BYTES)
		record->flags |= SAMPLER_USER;
	return true;
}

static __always_inline void read_registers(const struct sampler_thread *thread, __u64 vmcb,
					   struct sampler_stacks *ret)
{
	bpf_probe_read_kernel(ret->registers, sizeof(ret->registers),
			      (void *)(unsigned long)(thread->vcpu + layout.vcpu_arch +
						      layout.arch_regs));
	ret->registers[SP] = 0;
	if (!layout.has_vmcb)
		return;
	ret->registers[AX] = read_word(vmcb + layout.vmcb_rax);
	ret->registers[SP] = read_word(vmcb + layout.vmcb_rsp);
}

/* Wakes the reader when a quarter of the ring is full, not at each sample. */
static __always_inline __u64 wakeup(void *ring)
{
	__u64 available = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	return available >= bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4 ? BPF_RB_FORCE_WAKEUP
									   : BPF_RB_NO_WAKEUP;
}

static __always_inline void write_stacks(void *ring, struct sampler_thread *thread,
					 struct sampler_vm *vm, __u64 vmcb, __u64 gs_base,
					 struct sampler_record *record)
{
	__u32 cpu = record->cpu;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &cpu);
	__u64 used;

	if (!scratch)
		return;
	scratch->used = 0;
	__builtin_memset(&scratch->stacks, 0, sizeof(scratch->stacks));
	read_registers(thread, vmcb, &scratch->stacks);
	copy_stacks(scratch, thread, vm, gs_base, record);
	record->flags |= SAMPLER_STACKS_TAKEN | (layout.has_vmcb ? 0 : SAMPLER_NO_SP);
	scratch->record = *record;
	used = scratch->used;
	if (used <= SAMPLER_STACK_BYTES)
		bpf_ringbuf_output(ring, scratch,
				   sizeof(scratch->record) + sizeof(scratch->stacks) + used,
				   wakeup(ring));
}

/*
 * The sample begun at BEGIN_NS is complete. This program never interrupts itself on the same CPU.
 */
__noinline int count_cost(struct sampler_thread *thread, __u64 begin_ns)
{
	__u32 key = 0;
	struct sampler_cost *cost = bpf_map_lookup_elem(&costs, &key);
	__u64 ns = bpf_ktime_get_ns() - begin_ns;

	if (!thread || !cost)
		return 0;
	thread->cost_ns += ns;
	cost->counts[sampler_cost_bucket(ns) & (SAMPLER_COST_BUCKETS - 1)]++;
	cost->total_ns += ns;
	return 0;
}

/* False: perf has to take the sample. */
static __always_inline bool take(struct bpf_perf_event_data *context,
				 struct sampler_thread *thread, __u64 vmcb, __u64 begin_ns)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sampler_record record = {
		.time_ns = begin_ns,
		.period = context->sample_period,
		.number = thread->number,
		.cpu = cpu,
	};
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct sampler_vm *vm = find_vm(thread);
	__u64 gs_base = 0;

	if (layout.has_vmcb)
		fill(thread, vmcb, &record);
	else if (!fill_without_vmcb(thread, vm, &record))
		return false;
	if (record.flags & SAMPLER_NESTED)
		vm = NULL; /* what is known belongs to another guest */
	if (vm) {
		record.version = vm->version;
		gs_base = layout.has_vmcb
				  ? gs_base_of(read_word(thread->vcpu + layout.svm_vmcb01), &record)
				  : known_gs_base(thread, vm);
		find_task(thread, vm, gs_base, &record);
	}
	if (!ring)
		return true;
	if (takes_mappings && vm && record.flags & SAMPLER_TASK)
		copy_areas(&record, vm, thread->vm);
	if (takes_stacks && vm)
		write_stacks(ring, thread, vm, vmcb, gs_base, &record);
	else
		bpf_ringbuf_output(ring, &record, sizeof(record), wakeup(ring));
	return true;
}

/*
 * Whether this thread has the address space in which the VM was created, so that its memory is the
 * guest's. It does not after it has executed another program, while another process runs the vCPU.
 */
static __always_inline bool has_its_memory(__u64 vcpu)
{
	__u64 kvm = read_word(vcpu + layout.vcpu_kvm);

	return read_word(kvm + layout.kvm_mm) == read_word(bpf_get_current_task() + layout.task_mm);
}

SEC("perf_event")
int sample_guest(struct bpf_perf_event_data *context)
{
	__u64 begin_ns = bpf_ktime_get_ns();
	__u64 key = bpf_get_current_pid_tgid();
	struct sampler_thread *thread = bpf_map_lookup_elem(&threads, &key);
	__u64 vmcb = 0;

	if (!thread)
		return 0;
	thread->passed++; /* a thread runs on only one CPU at a time */
	if (!sees_guests || !thread->vcpu ||
	    !read_byte(thread->vcpu + layout.vcpu_arch + layout.arch_handling_intr) ||
	    !has_its_memory(thread->vcpu))
		return 1;
	if (layout.has_vmcb) {
		vmcb = read_word(thread->vcpu + layout.svm_vmcb);
		if (!vmcb)
			return 1;
	}
	if (!take(context, thread, vmcb, begin_ns))
		return 1;
	count_cost(thread, begin_ns);
	return 0;
}

char _license[] SEC("license") = "GPL";
