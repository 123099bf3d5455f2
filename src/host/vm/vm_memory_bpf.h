/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory slots and vCPU registers of any VMM's VMs, found by BPF; see vm_memory.h. */
#ifndef HOST_VM_VM_MEMORY_BPF_H
#define HOST_VM_VM_MEMORY_BPF_H

#include "host/vm/vm_memory.h"

struct vm_memory_bpf;

/* Loads the iterator, once for many VMs; ERROR_UNSUPPORTED in a build without BPF. */
struct error *vm_memory_bpf_create(struct vm_memory_bpf **ret) MUST_CHECK;
void vm_memory_bpf_destroy(struct vm_memory_bpf *bpf); /* takes NULL */
struct error *vm_memory_bpf_find(struct vm_memory_bpf *bpf, const struct host_vm *vm,
				 struct host_vm_memory *ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_vm_memory_bpf, struct vm_memory_bpf *, vm_memory_bpf_destroy)
#define _cleanup_vm_memory_bpf_ _cleanup_(cleanup_vm_memory_bpf)

#endif
