/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VM of a QEMU that is asked for what KVM may not know: it may do without. */
#ifndef HOST_VM_VM_QEMU_H
#define HOST_VM_VM_QEMU_H

#include "host/vm/vm.h"

/*
 * Makes VMS, as they were found, have the one that TEXT names (its name, its pid, or the pid of a
 * QEMU without KVM) with the vCPUs that its QEMU says it has. ERROR_NOT_FOUND, and what
 * qemu_monitor_open() gives.
 */
struct error *vm_qemu_find(const char *text, struct host_vms *vms) MUST_CHECK;

#endif
