/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the fields of KVM's structures lie in the running kernel. Only with HAVE_BPF. */
#ifndef HOST_VM_VM_LAYOUT_H
#define HOST_VM_VM_LAYOUT_H

#include <linux/types.h>

#include "base/error.h"
#include "bpf/guest_sampler.h"
#include "bpf/vm_files.h"
#include "bpf/vm_memory.h"

struct btf;

/* From /sys/kernel/btf, of the kernel and of the module kvm; needs no rights. */
struct error *vm_layout_find(struct vm_files_layout *ret) MUST_CHECK;
/* Likewise, and of the vendor's module; ERROR_UNSUPPORTED on other machines than x86. */
struct error *vm_memory_layout_find(struct vm_memory_layout *ret) MUST_CHECK;
/*
 * Likewise; ERROR_UNSUPPORTED other than on AMD and Intel; on AMD before Linux 5.17, where nothing
 * in struct kvm_vcpu says whether an interrupt came from the guest; on Intel before 6.3, where a
 * BPF program cannot know the guest's IP.
 */
struct error *vm_sampler_layout_find(struct sampler_layout *ret) MUST_CHECK;
struct error *vm_layout_from_btf(const struct btf *btf, struct vm_files_layout *ret) MUST_CHECK;

#endif
