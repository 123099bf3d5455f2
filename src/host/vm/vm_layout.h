/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The offsets of fields in the running kernel's KVM structures. Only with HAVE_BPF. */
#ifndef HOST_VM_VM_LAYOUT_H
#define HOST_VM_VM_LAYOUT_H

#include <linux/types.h>

#include "base/error.h"
#include "bpf/guest_sampler.h"
#include "bpf/vm_files.h"
#include "bpf/vm_memory.h"

struct btf;

/* From /sys/kernel/btf, for the kernel and the module kvm; needs no rights. */
struct error *vm_layout_find(struct vm_files_layout *ret) MUST_CHECK;
/* The same, and for the vendor's module; ERROR_UNSUPPORTED on anything but x86. */
struct error *vm_memory_layout_find(struct vm_memory_layout *ret) MUST_CHECK;
/*
 * The same. ERROR_UNSUPPORTED except on AMD and Intel; on AMD before Linux 5.17, where nothing in
 * struct kvm_vcpu shows whether an interrupt came while the guest ran; and on Intel before 6.3,
 * where a BPF program cannot get the guest's IP.
 */
struct error *vm_sampler_layout_find(struct sampler_layout *ret) MUST_CHECK;
struct error *vm_layout_from_btf(const struct btf *btf, struct vm_files_layout *ret) MUST_CHECK;

#endif
