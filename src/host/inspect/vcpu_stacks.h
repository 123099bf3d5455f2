/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the vCPUs of a VM run at this moment: the call chain of each, kernel and user. Those that
 * run are sampled until each has given a sample; of those that do not, registers and stacks are in
 * memory.
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
	VCPU_HALTED,    /* by the guest, until an interrupt comes */
	VCPU_STOPPED,   /* it did not get to run: its VM is paused, or its thread waits for a CPU */
	VCPU_NESTED,    /* it runs a guest of its guest, of which nothing is known */
	VCPU_UNSTARTED, /* it has not run since the VM was made */
	VCPU_RESTLESS,  /* it ran at each look, and was met in no sample */
	VCPU_STATES,
};

struct vcpu_stack {
	uint32_t vcpu;
	enum vcpu_state state;
	bool user;
	bool has_task;
	struct guest_task task;
	size_t stack; /* its number in STACKS; SIZE_MAX: none */
};

struct vcpu_stacks {
	VECTOR(struct vcpu_stack) items; /* by vCPU; those that have not started are last */
	struct guest_stacks stacks;
};

#define VCPU_STACKS_ALL UINT32_MAX

/*
 * Of vCPU number VCPU, or VCPU_STACKS_ALL; takes a second at most, where vCPUs run some
 * milliseconds. Names go to STRINGS. ERROR_UNSUPPORTED: registers are out of reach here (no BPF, no
 * AMD, an old kernel), or as guest_view_describe(). ERROR_NOT_FOUND: there is no such vCPU.
 */
struct error *vcpu_stacks_read(struct vm_memory_finder *finder, const struct host_vm *vm,
			       struct guest_view *view, uint32_t vcpu, struct intern *strings,
			       struct vcpu_stacks *ret) MUST_CHECK;
void vcpu_stacks_deinit(struct vcpu_stacks *stacks);

#endif
