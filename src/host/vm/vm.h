/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMs of this host. A VM is a process that has a KVM VM open (a file whose link reads
 * anon_inode:kvm-vm), whatever its program is. Its vCPU files are anon_inode:kvm-vcpu:N.
 */
#ifndef HOST_VM_VM_H
#define HOST_VM_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vector.h"

struct host_vcpu {
	uint32_t number;
	uint32_t tid; /* the thread that runs it; 0: not known (or it has not run yet) */
	uint64_t object; /* the kernel's struct kvm_vcpu, for BPF; 0: not known */
};

struct host_vm {
	uint32_t pid;
	uint32_t fd; /* the VM's descriptor in it: tells several VMs of one process apart */
	char *name; /* QEMU -name, libvirt's, Firecracker's --id; else COMMAND-PID */
	char *vmm;  /* "qemu", "firecracker", "cloud-hypervisor", "crosvm" …; else the command */
	uint64_t memory_bytes;	/* of the guest: its memory slots by BPF; 0: not known */
	uint64_t start_time_ns; /* of the process: wall clock since 1970 */
	VECTOR(struct host_vcpu) vcpus; /* by number */
	bool emulated; /* by a QEMU that does without KVM: host_vms_add_emulated() */
};

/* How vCPUs were tied to threads. */
enum host_vcpu_source {
	HOST_VCPU_BPF,
	HOST_VCPU_DEBUGFS,
	HOST_VCPU_UNKNOWN,
	HOST_VCPU_QEMU, /* of the one VM that was asked (vm_qemu.h) */
};

struct host_vms {
	VECTOR(struct host_vm) items; /* by pid */
	enum host_vcpu_source vcpu_source;
	char *vcpu_source_reason; /* why no better one: "no CAP_BPF", …; NULL if it is BPF */
	size_t processes_hidden;  /* processes whose files we may not look at */
};

struct error *host_vms_find(struct host_vms *ret) MUST_CHECK;
void host_vms_deinit(struct host_vms *vms);
/* The VM of process PID; NULL: it has none. */
const struct host_vm *host_vms_of_process(const struct host_vms *vms, uint32_t pid);
/* Process PID, a QEMU in which KVM has no VM, without vCPUs. ERROR_NOT_FOUND: it is no QEMU. */
struct error *host_vms_add_emulated(struct host_vms *vms, uint32_t pid) MUST_CHECK;

/*
 * For looking again and again: loads the BPF iterator once, which is most of what one
 * host_vms_find() costs. Without BPF it works as well; then RET of the scan says why.
 */
struct host_vm_finder;

struct host_vm_finder *host_vm_finder_create(void);
void host_vm_finder_destroy(struct host_vm_finder *finder); /* takes NULL */
struct error *host_vm_finder_scan(struct host_vm_finder *finder, struct host_vms *ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_host_vm_finder, struct host_vm_finder *, host_vm_finder_destroy)
#define _cleanup_host_vm_finder_ _cleanup_(cleanup_host_vm_finder)
#define _cleanup_host_vms_ _cleanup_(host_vms_deinit)

/*
 * The VM that TEXT names: its pid, else its name. ERROR_NOT_FOUND lists those there are as a
 * hint; two VMs of one name are an error that says their pids.
 */
struct error *host_vms_select(const struct host_vms *vms, const char *text,
			      const struct host_vm **ret) MUST_CHECK;

#endif
