/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's memory slots and vCPU registers by asking its QEMU: for hosts on which BPF is not to be
 * had. vCPUs are paused for a moment each time, and all of QEMU is asked while nobody else is.
 */
#ifndef HOST_VM_VM_MEMORY_QMP_H
#define HOST_VM_VM_MEMORY_QMP_H

#include "host/vm/vm_memory.h"

/*
 * Of process PID, a QEMU. RET's registers never say "nested": a vCPU that runs a guest of its own
 * has page tables there that lead nowhere in this guest. ERROR_UNSUPPORTED, ERROR_PERMISSION,
 * ERROR_NOT_FOUND: no way leads to its monitor now; ERROR_BAD_DATA: it changed meanwhile.
 */
struct error *vm_memory_qmp_find(uint32_t pid, struct host_vm_memory *ret) MUST_CHECK;

#endif
