/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's memory slots and vCPU registers, from its QEMU, for hosts where BPF is not available.
 * Each call pauses vCPUs for a moment, and uses QEMU's monitor while nobody else does.
 */
#ifndef HOST_VM_VM_MEMORY_QMP_H
#define HOST_VM_VM_MEMORY_QMP_H

#include "host/vm/vm_memory.h"

/*
 * For process PID, a QEMU. RET's registers never say "nested": if a vCPU runs a nested guest, its
 * page tables do not make sense in this guest. ERROR_UNSUPPORTED, ERROR_PERMISSION,
 * ERROR_NOT_FOUND: the monitor cannot be used now. ERROR_BAD_DATA: memory changed in the meantime.
 */
struct error *vm_memory_qmp_find(uint32_t pid, struct host_vm_memory *ret) MUST_CHECK;

#endif
