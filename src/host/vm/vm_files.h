/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open files of KVM, as the two ways of looking find them: a BPF iterator (vm_files_bpf.c)
 * or /proc (vm_files_proc.c) with debugfs (vm_debugfs.c). vm.c makes VMs of them. Internal
 * to src/host's VM discovery.
 */
#ifndef HOST_VM_VM_FILES_H
#define HOST_VM_VM_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vector.h"

struct vm_file {
	uint64_t vm;   /* equal for files of one VM */
	uint64_t object; /* equal for descriptors of one open file: of one vCPU */
	uint64_t memory_bytes; /* of the guest, 0: not known */
	uint32_t pid;  /* a process that has it open */
	uint32_t fd;
	uint32_t number; /* of a vCPU */
	uint32_t tid;	 /* of a vCPU: its thread, 0: not known */
	uint64_t vcpu_object; /* struct host_vcpu's */
	bool is_vcpu;
	bool owner; /* the process has the address space in which the VM lives */
};

struct vm_files {
	VECTOR(struct vm_file) list;
};

struct vm_files_bpf;

/* Loads the iterator; ERROR_UNSUPPORTED in a build without BPF. */
struct error *vm_files_bpf_create(struct vm_files_bpf **ret) MUST_CHECK;
void vm_files_bpf_destroy(struct vm_files_bpf *bpf); /* takes NULL */
/* Appends to RET what is open now in the processes of this pid namespace. */
struct error *vm_files_bpf_scan(struct vm_files_bpf *bpf, struct vm_files *ret) MUST_CHECK;

/*
 * Looks into all of /proc/PID/fd. RET gets a file's VM only as far as /proc tells: all VMs
 * of one process are one. *RET_HIDDEN: processes whose files may not be seen.
 */
struct error *vm_files_proc_scan(struct vm_files *ret, size_t *ret_hidden) MUST_CHECK;

/*
 * Adds threads from debugfs to what /proc gave, and tells VMs of one process apart. An
 * error says why debugfs does not help; FILES are as before then.
 */
struct error *vm_debugfs_add_threads(struct vm_files *files) MUST_CHECK;

#endif
