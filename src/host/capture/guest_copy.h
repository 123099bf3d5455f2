/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what a stopped vCPU is running: its task and its stacks. This uses the same code as the BPF
 * sampler (bpf/stacks_in_use.h), but reads the VMM's memory from outside.
 */
#ifndef HOST_CAPTURE_GUEST_COPY_H
#define HOST_CAPTURE_GUEST_COPY_H

#include "bpf/guest_sampler.h"
#include "guest/process/cpus.h"
#include "host/vm/vm_memory.h"

/* A guest, as described by capture_set_guest(). */
struct guest_copy_guest {
	struct sampler_vm vm; /* version 0: nothing is known */
	uint32_t pid;	      /* the VMM's */
	uint64_t layout;      /* its host_process_layout(), from before its slots were found */
	uint32_t user_bytes;  /* how much of a user stack to copy at most */
	VECTOR(struct guest_cpu) cpus;
};

struct guest_copy; /* of one vCPU; used for one sample after another */

struct guest_copy *guest_copy_create(uint32_t vcpu);
void guest_copy_destroy(struct guest_copy *copy); /* takes NULL */

/*
 * Copies what the vCPU runs, found from its REGISTERS (which must have_state), and its stacks if
 * STACKS is set. Both results are valid until the next call. *RET_STACKS is followed by its bytes,
 * and NULL if there are none.
 */
const struct sampler_record *guest_copy_take(struct guest_copy *copy,
					     struct guest_copy_guest *guest,
					     const struct host_vm_registers *registers, bool stacks,
					     const struct sampler_stacks **ret_stacks);

/*
 * Whether GUEST's process has executed no other program, whose memory would be where the guest's
 * was. To be asked after copying: if not, what was copied must not be used.
 */
bool guest_copy_is_of_guest(const struct guest_copy_guest *guest);

#endif
