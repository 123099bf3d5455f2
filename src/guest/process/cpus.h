/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs of an x86-64 guest: where each has its per-CPU variables, which is its GS base in the
 * kernel. A vCPU is found by its APIC id, which is KVM's number of it.
 */
#ifndef GUEST_PROCESS_CPUS_H
#define GUEST_PROCESS_CPUS_H

#include "base/vector.h"
#include "guest/kernel/kernel.h"

#define GUEST_CPUS_MAX 4096 /* KVM_MAX_VCPUS of x86 */

struct guest_cpu {
	uint32_t apic_id;
	struct gva base; /* to be added to a per-CPU symbol (running.h) */
};

struct guest_cpus {
	VECTOR(struct guest_cpu) items; /* in the guest's order; no APIC id twice */
};

/* Those that have run so far; none where the kernel does not tell (no BTF, no data symbols). */
void guest_cpus_read(const struct guest_kernel *kernel, struct guest_cpus *ret);
void guest_cpus_deinit(struct guest_cpus *cpus);

#endif
