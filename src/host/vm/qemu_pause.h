/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stops a guest for a moment and reads the registers of its vCPUs, using QEMU: "stop", "info
 * registers -a", "cont". While the guest is stopped, its memory does not change. It will continue
 * whatever happens to us: a separate process takes care of that.
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
 * For process PID, a QEMU. Its command line is read only now; libvirt is asked whether the domain
 * in it is this process.
 */
struct error *qemu_pause_create(uint32_t pid, struct qemu_pause **ret) MUST_CHECK;
void qemu_pause_destroy(struct qemu_pause *pause); /* takes NULL */

/*
 * Stops the guest. RET gets only registers, and must be freed with host_vm_memory_deinit(). If
 * somebody else has paused the guest, *RET_RUNS is false and the guest stays as it was. The monitor
 * is asked over a new connection, which stays open until qemu_pause_end(). After an error the guest
 * is running, or the next call makes it continue.
 */
struct error *qemu_pause_begin(struct qemu_pause *pause, struct host_vm_memory *ret,
			       bool *ret_runs) MUST_CHECK;
/* Lets the guest continue. *RET_NS is an upper bound of the time for which it was stopped. */
struct error *qemu_pause_end(struct qemu_pause *pause, uint64_t *ret_ns) MUST_CHECK;

#endif
