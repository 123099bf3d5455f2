/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs of an x86-64 guest: the base of each CPU's per-CPU variables, which is its GS base in
 * the kernel. A vCPU is found by its APIC id, the number that KVM gives it.
 */
#ifndef GUEST_PROCESS_CPUS_H
#define GUEST_PROCESS_CPUS_H

#include "base/vector.h"
#include "guest/kernel/kernel.h"

#define GUEST_CPUS_MAX 4096 /* KVM_MAX_VCPUS of x86 */

struct guest_cpu {
	uint32_t apic_id;
	struct gva base; /* added to a per-CPU symbol (running.h) */
};

struct guest_cpus {
	VECTOR(struct guest_cpu) items; /* in the guest's order; each APIC id once */
};

/* CPUs that have run so far; none if the kernel does not show them (no BTF, no data symbols). */
void guest_cpus_read(const struct guest_kernel *kernel, struct guest_cpus *ret);
void guest_cpus_deinit(struct guest_cpus *cpus);

#endif
