// SPDX-License-Identifier: GPL-2.0-only
/*
 * An iterator over all open files that writes a record for each file of KVM.
 *
 * KVM's structures are read by offsets that the loader found in BTF; the kernel's own are read
 * using CO-RE. Nothing is locked: a VM that is changing may result in an outdated record, but never
 * in a fault. The loader checks threads against /proc.
 *
 * A process may have the same file open any number of times, and a VM any number of slots: a file
 * that is open several times in a row is written once, slots are counted once per VM, and a scan
 * visits a limited number of them.
 *
 * The kernel walks only the processes of the reader's pid namespace, and pids are translated to
 * that namespace, so they can be used with /proc and perf_event_open().
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/vm_files.h"
#include "bpf/kvm_files.bpf.h"
#include "bpf/kvm_slots.bpf.h"

#define KVM_MEM_READONLY (1u << 1)

char LICENSE[] SEC("license") = "GPL";

const volatile struct vm_files_layout layout;

/* Set by the loader before each scan. */
__u64 scan; /* its number */
__u32 visits_left;
__u64 last_file, last_task; /* of the last record */

struct counted {
	__u64 scan, pages;
};

/* By struct kvm. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, VM_FILES_VMS);
	__type(key, __u64);
	__type(value, struct counted);
} counted SEC(".maps");

static __always_inline void visit_slot(struct walk *walk, __u64 slot)
{
	if (!(read_u32(slot + layout.slot_flags) & KVM_MEM_READONLY))
		walk->pages += read_word(slot + layout.slot_npages);
}

/* 0 if there are too many slots, or they changed in the meantime. */
static __always_inline __u64 count_pages(__u64 kvm, bool hashed)
{
	const struct counted *known = bpf_map_lookup_elem(&counted, &kvm);
	struct counted now = { .scan = scan };
	__u32 most = VM_FILES_MAX_SLOTS + 1;
	struct walk walk = { 0 };

	if (known && known->scan == scan)
		return known->pages;
	if (most > visits_left)
		most = visits_left;
	slots_left = most;
	if (visit_slots(kvm, hashed, &walk))
		now.pages = walk.pages;
	visits_left -= most - slots_left;
	bpf_map_update_elem(&counted, &kvm, &now, BPF_ANY);
	return now.pages;
}

static __always_inline void write_record(struct bpf_iter__task_file *context, bool hashed)
{
	struct task_struct *task = context->task;
	struct file *file = context->file;
	struct vm_file_record record = { 0 };
	__u64 object;
	int kind;

	if (!task || !file)
		return;
	if (last_file == (unsigned long)file && last_task == (unsigned long)task)
		return;
	kind = kvm_file_kind(file);
	if (!kind)
		return;
	object = (unsigned long)file->private_data;
	record.kvm = record.object = object;
	if (kind == 2) {
		record.kvm = read_word(object + layout.vcpu_kvm);
		record.vcpu_id = read_u32(object + layout.vcpu_id);
		record.tid = pid_number((void *)(unsigned long)read_word(object + layout.vcpu_pid));
		record.flags |= VM_FILE_VCPU;
	}
	record.pid = pid_number(BPF_CORE_READ(task, group_leader, thread_pid));
	record.fd = context->fd;
	if (read_word(record.kvm + layout.kvm_mm) == (unsigned long)task->mm)
		record.flags |= VM_FILE_OWNER;
	record.guest_pages = count_pages(record.kvm, hashed);
	/* Where there is no room, the kernel calls again for the same file. */
	if (bpf_seq_write(context->meta->seq, &record, sizeof(record)))
		return;
	last_file = (unsigned long)file;
	last_task = (unsigned long)task;
}

/* For slots in a hash table, since 5.17, when bpf_loop() was added as well. */
SEC("iter/task_file")
int find_with_hashed_slots(struct bpf_iter__task_file *context)
{
	write_record(context, true);
	return 0;
}

SEC("iter/task_file")
int find_with_slot_array(struct bpf_iter__task_file *context)
{
	write_record(context, false);
	return 0;
}
