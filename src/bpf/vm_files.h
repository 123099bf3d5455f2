/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by vm_files.bpf.c and its loader in src/host. */
#ifndef BPF_VM_FILES_H
#define BPF_VM_FILES_H

#include <linux/types.h>

#define VM_FILES_MAX_SLOTS 4096 /* a VM with more has an unknown size */
/* Slots visited in one scan, 0.2 us each; VMs after that have an unknown size. */
#define VM_FILES_MAX_VISITS 1000000
#define VM_FILES_VMS 4096 /* whose size is kept during a scan */

/*
 * Offsets of the fields of KVM's structures, in bytes. The loader finds them in the BTF of kvm,
 * which may be a module: reading that file needs no rights, while having libbpf relocate against a
 * module's BTF needs CAP_SYS_ADMIN.
 */
struct vm_files_layout {
	__u32 vcpu_kvm, vcpu_pid, vcpu_id;
	__u32 kvm_mm, kvm_memslots;
	/* Slots are in a hash table of lists (since 5.17); otherwise in an array. */
	__u32 slots_hashed;
	__u32 slots_id_hash, slots_node_idx, id_hash_buckets, slot_id_node;
	__u32 slots_array, slots_used, slot_size;
	__u32 slot_npages, slot_flags;
	__u32 slots_generation;
};

enum {
	VM_FILE_VCPU = 1,  /* a vCPU's file, not the VM's */
	VM_FILE_OWNER = 2, /* the process has the address space in which the VM was created */
};

/* One open file of KVM in one process. Pids are those of the reader's pid namespace. */
struct vm_file_record {
	/* addresses that identify the VM, and the VM or vCPU; a vCPU's is also used by BPF */
	__u64 kvm, object;
	__u64 guest_pages; /* of all writable slots; 0: not known */
	__u32 pid;
	__u32 fd;
	__u32 vcpu_id;
	__u32 tid; /* 0: the vCPU has not run yet */
	__u32 flags;
	__u32 reserved;
};

#endif
