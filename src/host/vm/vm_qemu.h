/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VM of a QEMU that is asked directly, since it may not use KVM. */
#ifndef HOST_VM_VM_QEMU_H
#define HOST_VM_VM_QEMU_H

#include "host/vm/vm.h"

/*
 * Makes sure that VMS, the VMs that were found, contains the one that TEXT names by its name or
 * pid, even if its QEMU does not use KVM, with the vCPUs that its QEMU reports. ERROR_NOT_FOUND, or
 * errors of qemu_monitor_open().
 */
struct error *vm_qemu_find(const char *text, struct host_vms *vms) MUST_CHECK;

#endif
