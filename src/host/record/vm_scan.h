/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for VMs in a thread of its own. Other users' processes decide how long that takes: how many
 * files they have open, and how soon their memory, in which their command lines are, can be read.
 * Samples are not kept waiting for it.
 */
#ifndef HOST_RECORD_VM_SCAN_H
#define HOST_RECORD_VM_SCAN_H

#include "base/error.h"
#include "host/vm/vm.h"

struct vm_scan;

struct vm_scan *vm_scan_create(void);
/* Does not wait for a scan that hangs. Takes NULL. */
void vm_scan_destroy(struct vm_scan *scan);

struct vm_scan_result {
	struct host_vms vms; /* if there is no error */
	struct error *error;
	uint64_t cost_ns; /* CPU time: on a busy host, a scan may take long but cost little */
};

/* Scans at once. */
struct error *vm_scan_now(struct vm_scan *scan, struct vm_scan_result *ret) MUST_CHECK;
/* Starts a scan. False: the last one's result has not been taken. */
bool vm_scan_begin(struct vm_scan *scan);
/* Takes the result; false: no scan has ended since. */
bool vm_scan_take(struct vm_scan *scan, struct vm_scan_result *ret);

#endif
