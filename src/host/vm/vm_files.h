/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open files of KVM, found either by a BPF iterator (vm_files_bpf.c) or in /proc (vm_files_proc.c)
 * together with debugfs (vm_debugfs.c). vm.c builds VMs from them. Internal to the VM discovery in
 * src/host.
 */
#ifndef HOST_VM_VM_FILES_H
#define HOST_VM_VM_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vector.h"

struct vm_file {
	uint64_t vm;   /* the same for all files of a VM */
	uint64_t object; /* the same for all descriptors of an open file, that is, of a vCPU */
	uint64_t memory_bytes; /* of the guest; 0: not known */
	uint32_t pid;  /* a process that has it open */
	uint32_t fd;
	uint32_t number; /* the vCPU's */
	uint32_t tid;	 /* the vCPU's thread; 0: not known */
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
/* Appends the files that are open in the processes of this pid namespace to RET. */
struct error *vm_files_bpf_scan(struct vm_files_bpf *bpf, struct vm_files *ret) MUST_CHECK;

/*
 * Scans /proc/PID/fd of all processes. /proc does not show which VM a file belongs to, so all VMs
 * of a process become one. *RET_HIDDEN: processes whose files are not visible.
 */
struct error *vm_files_proc_scan(struct vm_files *ret, size_t *ret_hidden) MUST_CHECK;

/*
 * Adds threads from debugfs to files found in /proc, and separates VMs of the same process. An
 * error says why debugfs does not help; FILES are then unchanged.
 */
struct error *vm_debugfs_add_threads(struct vm_files *files) MUST_CHECK;

#endif
