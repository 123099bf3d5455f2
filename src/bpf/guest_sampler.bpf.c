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
 * vmcb01 whichever guest ran: VMSAVE puts it there (arch/x86/kvm/svm/svm.c). On Intel they are where only
 * an instruction reads them: the task is found by what the guest's memory says of each vCPU's per-CPU
 * variables. CR3 is not known there, nor what the exit was, nor SP: all other registers are. What is above
 * a frame pointer is copied then, if BP is one.
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
#include "bpf/kernel_read.bpf.h"
#include "bpf/sampler_cost.h"

#define HF_GUEST_MASK (1u << 0) /* arch/x86/include/asm/kvm_host.h, until 7.0 at least */
#define SVM_EXIT_INTR 0x060	/* arch/x86/include/uapi/asm/svm.h */
#define SVM_EXIT_NMI 0x061

#define PAGE_PRESENT (1ull << 0)
#define PAGE_LARGE (1ull << 7)
#define ADDRESS_MASK 0x000ffffffffff000ull
#define PAGE_BITS 12
#define NOT_MAPPED (~0ull)
#define LEVEL_BITS 9
#define IS_KERNEL(gva) ((gva) >> 63)
#define GUEST_PID_MAX (1u << 22) /* PID_MAX_LIMIT */
#define PAGE_BYTES (1u << PAGE_BITS)
#define VSYSCALL_START 0xffffffffff600000ull
#define MAX_STACK_PAGES 17 /* of one stack */

enum { AX = 0, SP = 4, BP = 5, IP = 16 }; /* enum kvm_reg, arch/x86/include/asm/kvm_host.h */

/* struct pt_regs, arch/x86/include/asm/ptrace.h */
#define PT_REGS_CS 17
#define PT_REGS_SP 19
#define PT_REGS_SS 20
#define PT_REGS_WORDS 21
#define FRED_WORDS 2 /* above it, from 6.9 on where FRED is configured (TOP_OF_KERNEL_STACK_PADDING) */
#define USER_CS 0x33 /* arch/x86/include/asm/segment.h */
#define USER32_CS 0x23
#define USER_SS 0x2b

const volatile struct sampler_layout layout;
const volatile bool sees_guests; /* the layout is known */
const volatile bool takes_stacks;
const volatile __u32 user_stack_bytes; /* that are copied at most */

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

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SAMPLER_MAX_THREADS);
	__type(key, __u64);
	__type(value, struct sampler_cpu);
} cpus SEC(".maps");

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

/* By CPU: what a sample with its stacks is put together in. */
struct scratch {
	struct sampler_record record;
	struct sampler_stacks stacks;
	/* How much of it is used stays below SAMPLER_STACK_BYTES; a page more is never passed. */
	__u8 data[SAMPLER_STACK_BYTES + PAGE_BYTES];
	__u64 used;
};
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

/*
 * Functions that are not static are verified once, by themselves, and not anew at each call.
 *
 * Where the VMM has GPA mapped; 0: in no slot. Largest slots come first.
 */
__noinline __u64 hva_of(struct sampler_vm *vm, __u64 gpa)
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

/* The guest's physical address of GVA, by these page tables; NOT_MAPPED: they do not map it. */
__noinline __u64 walk(struct sampler_vm *vm, __u64 table, __u64 gva)
{
	__u64 entry = 0, bytes = 0;

	if (!vm)
		return NOT_MAPPED;
	table &= ADDRESS_MASK;
	for (__u32 i = 0; i < 5; i++) {
		__u32 level = 5 - i, shift = PAGE_BITS + LEVEL_BITS * (level - 1);

		if (level > vm->levels)
			continue;
		table += (gva >> shift & ((1 << LEVEL_BITS) - 1)) * sizeof(entry);
		if (!read_hva(hva_of(vm, table), &entry, sizeof(entry)) || !(entry & PAGE_PRESENT))
			return NOT_MAPPED;
		table = entry & ADDRESS_MASK;
		bytes = 1ull << shift;
		if (level == 1 || (level <= 3 && entry & PAGE_LARGE))
			break;
	}
	return (table & ~(bytes - 1)) | (gva & (bytes - 1));
}

/* Where the VMM has an address of the guest mapped, by these page tables; 0: they do not map it. */
static __always_inline __u64 translate(struct sampler_vm *vm, __u64 table, __u64 gva)
{
	return hva_of(vm, walk(vm, table, gva));
}

static __always_inline __u64 translate_kernel(struct sampler_vm *vm, __u64 gva)
{
	return IS_KERNEL(gva) ? translate(vm, vm->page_tables, gva) : 0;
}

/* The address at which the vCPU keeps its pointer to the current task; the last one is kept. */
static __always_inline __u64 find_current(struct sampler_thread *thread, struct sampler_vm *vm,
					  __u64 gs_base)
{
	__u64 gva = gs_base + vm->current_offset;

	if (thread->current_gva != gva || thread->version != vm->version) {
		thread->current_hva = translate_kernel(vm, gva);
		thread->current_gva = gva;
		thread->version = vm->version;
	}
	return thread->current_hva;
}

static __always_inline bool read_task(struct sampler_vm *vm, struct sampler_record *record)
{
	/* A task_struct is contiguous in physical memory: kmem_cache_create(), kernel/fork.c. */
	__u64 task = translate_kernel(vm, record->task);

	return task && read_hva(task + vm->task_pid, &record->pid, sizeof(record->pid)) &&
	       read_hva(task + vm->task_tgid, &record->tgid, sizeof(record->tgid)) &&
	       read_hva(task + vm->task_comm, record->comm, sizeof(record->comm)) &&
	       read_hva(task + vm->task_mm, &record->mm, sizeof(record->mm)) &&
	       record->pid <= GUEST_PID_MAX && record->tgid <= GUEST_PID_MAX;
}

/* The per-CPU area is at GS in the kernel, at its other base in user mode. */
static __always_inline __u64 gs_base_of(__u64 vmcb01, const struct sampler_record *record)
{
	__u64 gs_base = read_word(vmcb01 + layout.vmcb_gs_base);

	/* In user mode, and where entry code has not come to SWAPGS yet. */
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

/* Who runs on the vCPU. */
static __always_inline void find_task(struct sampler_thread *thread, struct sampler_vm *vm,
				      __u64 gs_base, struct sampler_record *record)
{
	if (!vm->page_tables || !gs_base ||
	    !read_hva(find_current(thread, vm, gs_base), &record->task, sizeof(record->task)))
		return;
	if (read_task(vm, record))
		record->flags |= SAMPLER_TASK;
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
 * Of a guest whose registers are in a VMCS. The IP is current where perf has asked KVM for it before it
 * ran this program (since Linux 6.3); the mode is told by it, which of Linux is right. False: all that is
 * known is what perf knows.
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
	else if (!vm || !vm->page_tables)
		return false;
	record->ip = read_word(arch + layout.arch_regs + IP * sizeof(record->ip));
	if (!IS_KERNEL(record->ip) || record->ip - VSYSCALL_START < PAGE_BYTES)
		record->flags |= SAMPLER_USER;
	return true;
}

/*
 * Copies guest memory behind what SCRATCH holds already, SIZE bytes within one page. False: there
 * is no room, or no such memory.
 */
__noinline int copy_page(struct scratch *scratch, struct sampler_vm *vm, __u64 table, __u64 gva,
			 __u64 size)
{
	__u64 hva = translate(vm, table, gva), used;

	if (!scratch || !hva || size > PAGE_BYTES)
		return 0;
	used = scratch->used;
	if (used >= SAMPLER_STACK_BYTES || used + size > SAMPLER_STACK_BYTES)
		return 0;
	if (bpf_probe_read_user(&scratch->data[used], size, (void *)(unsigned long)hva))
		return 0;
	scratch->used = used + size;
	return 1;
}

/* Copies the stack from GVA to END, or as far as it is mapped; NUMBER is below SAMPLER_STACKS. */
static __always_inline void copy_stack(struct scratch *scratch, __u32 number,
				       struct sampler_vm *vm, __u64 table, __u64 gva, __u64 end)
{
	struct sampler_stack *stack = &scratch->stacks.stacks[number];

	stack->gva = gva;
	stack->end = end;
	for (__u32 i = 0; i < MAX_STACK_PAGES && gva < end; i++) {
		__u64 size = PAGE_BYTES - (gva & (PAGE_BYTES - 1));

		if (size > end - gva)
			size = end - gva;
		if (!copy_page(scratch, vm, table, gva, size))
			break;
		gva += size;
	}
	stack->bytes = gva - stack->gva;
}

/* Where the kernel was interrupted, if SP is on the IRQ stack, whose last word says that; else 0. */
static __always_inline __u64 find_interrupted(struct sampler_vm *vm, __u64 gs_base, __u64 sp,
					      __u64 *ret_end)
{
	__u64 end = 0, previous = 0;

	if (!vm->irq_stack_offset ||
	    !read_hva(translate_kernel(vm, gs_base + vm->irq_stack_offset), &end, sizeof(end)))
		return 0;
	/* It is the end, or a word below: arch/x86/kernel/irq_64.c, before and since 5.12. */
	end = (end + sizeof(end)) & ~(__u64)(PAGE_BYTES - 1);
	if (end - sp > vm->stack_bytes || /* IRQ_STACK_SIZE is THREAD_SIZE: asm/page_64_types.h */
	    !read_hva(translate_kernel(vm, end - sizeof(end)), &previous, sizeof(previous)))
		return 0;
	*ret_end = end;
	return previous;
}

/*
 * Kernel stacks, from SP on, or from BP where only that is known: that in use, and, from an IRQ stack, the
 * task's below it. False: it is not known to be the task's; while the kernel switches tasks, the stack is
 * the next one's before `current` is.
 */
static __always_inline bool copy_kernel_stacks(struct scratch *scratch, struct sampler_vm *vm,
					       __u64 gs_base, __u64 sp, __u64 task_stack)
{
	__u64 end = 0, task_end = task_stack + vm->stack_bytes, previous;

	if (task_stack && sp - task_stack < vm->stack_bytes) {
		copy_stack(scratch, 0, vm, vm->page_tables, sp, task_end);
		return true;
	}
	previous = find_interrupted(vm, gs_base, sp, &end);
	if (!end && layout.has_vmcb) /* another stack; BP is just a number then */
		end = sp + vm->stack_bytes;
	copy_stack(scratch, 0, vm, vm->page_tables, sp, end ? end : sp);
	if (!previous || !task_stack || previous - task_stack >= vm->stack_bytes)
		return false;
	copy_stack(scratch, 1, vm, vm->page_tables, previous, task_end);
	return true;
}

/* CS, flags, SP and SS of user code in a struct pt_regs whose last word ends at END; 0: they are not. */
static __always_inline __u64 user_sp_below(__u64 end_hva)
{
	__u64 words[PT_REGS_WORDS - PT_REGS_CS] = {}, cs;

	if (!read_hva(end_hva - sizeof(words), words, sizeof(words)))
		return 0;
	cs = words[0] & 0xffff; /* FRED keeps more above */
	if ((cs != USER_CS && cs != USER32_CS) ||
	    (words[PT_REGS_SS - PT_REGS_CS] & 0xffff) != USER_SS)
		return 0;
	return IS_KERNEL(words[PT_REGS_SP - PT_REGS_CS]) ? 0 : words[PT_REGS_SP - PT_REGS_CS];
}

/* The user's stack pointer: a struct pt_regs at the end of the kernel stack has it; 0: none. */
static __always_inline __u64 find_user_sp(struct sampler_vm *vm, __u64 task_stack)
{
	__u64 last = translate_kernel(vm, task_stack + vm->stack_bytes - sizeof(__u64));
	__u64 sp;

	if (!last)
		return 0;
	sp = user_sp_below(last + sizeof(__u64));
	return sp ? sp : user_sp_below(last + sizeof(__u64) - FRED_WORDS * sizeof(__u64));
}

/*
 * The page tables of the task's process. Those in force are the next one's already while the kernel
 * switches tasks; where they are those that its mm had before, nothing is read. Without CR3 there is
 * nothing to compare with, and an mm may be another one's at the same address.
 */
static __always_inline __u64 find_user_tables(struct sampler_thread *thread, struct sampler_vm *vm,
					      const struct sampler_record *record)
{
	__u64 tables = record->page_tables & ADDRESS_MASK, pgd = 0;

	if (layout.has_vmcb && thread->mm == record->mm && thread->mm_tables == tables)
		return tables;
	if (!read_hva(translate_kernel(vm, record->mm + vm->mm_pgd), &pgd, sizeof(pgd)))
		return NOT_MAPPED;
	thread->mm = record->mm;
	thread->mm_tables = IS_KERNEL(pgd) ? walk(vm, vm->page_tables, pgd) : NOT_MAPPED;
	return thread->mm_tables;
}

/* Of a guest that is no Linux only the stack in use is known. */
static __always_inline void copy_own_stack(struct scratch *scratch, struct sampler_vm *vm,
					   __u64 tables, __u64 sp)
{
	copy_stack(scratch, SAMPLER_STACKS - 1, vm, tables, sp, sp + user_stack_bytes);
}

static __always_inline void copy_stacks(struct scratch *scratch, struct sampler_thread *thread,
					struct sampler_vm *vm, __u64 gs_base,
					const struct sampler_record *record)
{
	__u64 sp = scratch->stacks.registers[layout.has_vmcb ? SP : BP], task_stack = 0;

	if (record->flags & SAMPLER_USER || !vm->page_tables) {
		copy_own_stack(scratch, vm,
			       layout.has_vmcb ? record->page_tables
					       : find_user_tables(thread, vm, record),
			       sp);
		return;
	}
	if (record->flags & SAMPLER_TASK)
		read_hva(translate_kernel(vm, record->task + vm->task_stack), &task_stack,
			 sizeof(task_stack));
	if (!copy_kernel_stacks(scratch, vm, gs_base, sp, task_stack) || !record->mm)
		return;
	sp = find_user_sp(vm, task_stack);
	if (sp)
		copy_own_stack(scratch, vm, find_user_tables(thread, vm, record), sp);
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

/* Wakes the reader when a quarter of the ring is filled, not at each sample. */
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

/* What was taken at BEGIN_NS is complete. On a CPU this program is never interrupted by itself. */
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

/* False: the sample is perf's. */
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
		vm = NULL; /* what is known is not of the guest that ran */
	if (vm) {
		record.version = vm->version;
		gs_base = layout.has_vmcb
				  ? gs_base_of(read_word(thread->vcpu + layout.svm_vmcb01), &record)
				  : known_gs_base(thread, vm);
		find_task(thread, vm, gs_base, &record);
	}
	if (!ring)
		return true;
	if (takes_stacks && vm)
		write_stacks(ring, thread, vm, vmcb, gs_base, &record);
	else
		bpf_ringbuf_output(ring, &record, sizeof(record), wakeup(ring));
	return true;
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
	thread->passed++; /* a thread is on one CPU at a time */
	if (!sees_guests || !thread->vcpu ||
	    !read_byte(thread->vcpu + layout.vcpu_arch + layout.arch_handling_intr))
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
