/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a vCPU runs that stands still: its task and its stacks, as the BPF sampler takes them of one
 * that was interrupted, by the same code (bpf/stacks_in_use.h); the VMM's memory is read from
 * outside.
 */
#ifndef HOST_CAPTURE_GUEST_COPY_H
#define HOST_CAPTURE_GUEST_COPY_H

#include "bpf/guest_sampler.h"
#include "guest/process/cpus.h"
#include "host/vm/vm_memory.h"

/* A guest, as capture_set_guest() has it. */
struct guest_copy_guest {
	struct sampler_vm vm; /* version 0: nothing is known of it */
	uint32_t pid;	      /* of its VMM */
	uint32_t user_bytes;  /* of a user's stack that are copied at most */
	VECTOR(struct guest_cpu) cpus;
};

struct guest_copy; /* of one vCPU, at one moment after another */

struct guest_copy *guest_copy_create(uint32_t vcpu);
void guest_copy_destroy(struct guest_copy *copy); /* takes NULL */

/*
 * Copies what the vCPU runs by its REGISTERS, which have_state, with its stacks if STACKS. Both are
 * valid until the next one; *RET_STACKS, which its bytes follow, is NULL where there are none.
 */
const struct sampler_record *guest_copy_take(struct guest_copy *copy,
					     struct guest_copy_guest *guest,
					     const struct host_vm_registers *registers, bool stacks,
					     const struct sampler_stacks **ret_stacks);

#endif
