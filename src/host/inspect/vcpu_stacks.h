/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the vCPUs of a VM run at this moment: the call chain of each, kernel and user. Running vCPUs
 * are sampled until each has given a sample; the registers and stacks of the others are in memory.
 */
#ifndef HOST_INSPECT_VCPU_STACKS_H
#define HOST_INSPECT_VCPU_STACKS_H

#include "base/intern.h"
#include "base/vector.h"
#include "host/inspect/guest_stacks.h"
#include "host/inspect/guest_view.h"
#include "host/vm/vm.h"
#include "host/vm/vm_memory.h"

enum vcpu_state {
	VCPU_RUNS,
	VCPU_HALTED,    /* by the guest, until an interrupt arrives */
	VCPU_STOPPED,   /* not running: its VM is paused, or its thread waits for a CPU */
	VCPU_NESTED,    /* runs a nested guest, of which nothing is known */
	VCPU_UNSTARTED, /* has not run since the VM was created */
	VCPU_RESTLESS,  /* ran at each look, but gave no sample */
	VCPU_STATES,
};

struct vcpu_stack {
	uint32_t vcpu;
	enum vcpu_state state;
	bool user;
	bool has_task;
	struct guest_task task;
	size_t stack; /* index into STACKS; SIZE_MAX: none */
};

struct vcpu_stacks {
	VECTOR(struct vcpu_stack) items; /* by vCPU; those that have not started come last */
	struct guest_stacks stacks;
};

#define VCPU_STACKS_ALL UINT32_MAX

/*
 * Looks at vCPU number VCPU, or at all with VCPU_STACKS_ALL. Takes at most a second; vCPUs need to
 * run for a few milliseconds. Names go to STRINGS. ERROR_UNSUPPORTED: registers cannot be read here
 * (no BPF, not AMD, an old kernel), or as for guest_view_describe(). ERROR_NOT_FOUND: no such vCPU.
 */
struct error *vcpu_stacks_read(struct vm_memory_finder *finder, const struct host_vm *vm,
			       struct guest_view *view, uint32_t vcpu, struct intern *strings,
			       struct vcpu_stacks *ret) MUST_CHECK;
void vcpu_stacks_deinit(struct vcpu_stacks *stacks);

#endif
