/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest stopped by its QEMU for a moment, with the registers of its vCPUs: "stop", "info
 * registers -a", "cont". As long as it is stopped, its memory does not change. It goes on whatever
 * becomes of us: a process of its own sees to that.
 *
 * "stop" is what `virsh suspend` does: QEMU also finishes and flushes the I/O of the guest's disks.
 */
#ifndef HOST_VM_QEMU_PAUSE_H
#define HOST_VM_QEMU_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/vm/vm_memory.h"

struct qemu_pause;

/*
 * Of process PID, a QEMU. What its command line says now holds from here on; libvirt is asked
 * whether the domain that it names is this process.
 */
struct error *qemu_pause_create(uint32_t pid, struct qemu_pause **ret) MUST_CHECK;
void qemu_pause_destroy(struct qemu_pause *pause); /* takes NULL */

/*
 * Stops the guest; RET then has registers alone, and host_vm_memory_deinit() frees it. *RET_RUNS is
 * false, and the guest as it was, where somebody else has paused it. The monitor is asked in a
 * connection of its own, which is taken until qemu_pause_end(). After an error the guest runs, or
 * is let run by the next call.
 */
struct error *qemu_pause_begin(struct qemu_pause *pause, struct host_vm_memory *ret,
			       bool *ret_runs) MUST_CHECK;
/* The guest goes on; *RET_NS is how long it stood still, at most. */
struct error *qemu_pause_end(struct qemu_pause *pause, uint64_t *ret_ns) MUST_CHECK;

#endif
