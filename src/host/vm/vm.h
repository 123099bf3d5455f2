/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMs of this host. A VM is a process that has a KVM VM open (a file whose link reads
 * anon_inode:kvm-vm), whatever program it runs. Its vCPU files are anon_inode:kvm-vcpu:N.
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
	/* the VM's descriptor in the process: distinguishes several VMs of one process */
	uint32_t fd;
	char *name; /* QEMU's -name, libvirt's name, Firecracker's --id; otherwise COMMAND-PID */
	/* "qemu", "firecracker", "cloud-hypervisor", "crosvm" …; otherwise the command */
	char *vmm;
	uint64_t memory_bytes;	/* the guest's, from its memory slots by BPF; 0: not known */
	uint64_t start_time_ns; /* of the process: wall clock since 1970 */
	VECTOR(struct host_vcpu) vcpus; /* by number */
	bool emulated; /* by a QEMU that does not use KVM: host_vms_add_emulated() */
};

/* How vCPUs were matched with threads. */
enum host_vcpu_source {
	HOST_VCPU_BPF,
	HOST_VCPU_DEBUGFS,
	HOST_VCPU_UNKNOWN,
	HOST_VCPU_QEMU, /* for the only VM, whose QEMU was asked (vm_qemu.h) */
};

struct host_vms {
	VECTOR(struct host_vm) items; /* by pid */
	enum host_vcpu_source vcpu_source;
	char *vcpu_source_reason; /* why it is not BPF: "no CAP_BPF", …; NULL if it is */
	size_t processes_hidden;  /* processes whose files we may not inspect */
};

struct error *host_vms_find(struct host_vms *ret) MUST_CHECK;
void host_vms_deinit(struct host_vms *vms);
/* The VM of process PID; NULL: it has none. */
const struct host_vm *host_vms_of_process(const struct host_vms *vms, uint32_t pid);
/* Adds process PID, a QEMU without a KVM VM; without vCPUs. ERROR_NOT_FOUND: it is not a QEMU. */
struct error *host_vms_add_emulated(struct host_vms *vms, uint32_t pid) MUST_CHECK;
/*
 * The same for all processes that are known to be such. What host_vms_find() gives has none: KVM
 * does not count their cycles, and only QEMU's monitor knows of them.
 */
void host_vms_add_all_emulated(struct host_vms *vms);

/*
 * For repeated searches: loads the BPF iterator once, which is most of the cost of host_vms_find().
 * It also works without BPF; the RET of a scan then has the reason.
 */
struct host_vm_finder;

struct host_vm_finder *host_vm_finder_create(void);
void host_vm_finder_destroy(struct host_vm_finder *finder); /* takes NULL */
struct error *host_vm_finder_scan(struct host_vm_finder *finder, struct host_vms *ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_host_vm_finder, struct host_vm_finder *, host_vm_finder_destroy)
#define _cleanup_host_vm_finder_ _cleanup_(cleanup_host_vm_finder)
#define _cleanup_host_vms_ _cleanup_(host_vms_deinit)

/*
 * The VM that TEXT names: by pid, or else by name. ERROR_NOT_FOUND lists the existing VMs in its
 * hint. If two VMs have the same name, the error lists their pids.
 */
struct error *host_vms_select(const struct host_vms *vms, const char *text,
			      const struct host_vm **ret) MUST_CHECK;

#endif
