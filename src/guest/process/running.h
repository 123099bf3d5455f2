/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running guest kernel: how a sampler finds the task that a vCPU runs, and whether the kernel
 * that was opened is still the one running.
 */
#ifndef GUEST_PROCESS_RUNNING_H
#define GUEST_PROCESS_RUNNING_H

#include "bpf/guest_current.h"
#include "guest/kernel/kernel.h"

/* ERROR_UNSUPPORTED: another architecture, no BTF, or no data symbols; the message says which. */
struct error *guest_current_find(const struct guest_kernel *kernel,
				 struct guest_current *ret) MUST_CHECK;
/*
 * From now on, KERNEL is read through its own page tables: those of the process that was running
 * when it was opened disappear with that process. No change if the kernel has no symbol for its
 * tables.
 */
void guest_kernel_use_own_page_tables(const struct guest_kernel *kernel);

/* Numbers that change whenever the things they describe change. */
struct guest_state {
	uint64_t kernel;  /* its banner; 0: it is no longer running, after a reboot or a kexec */
	uint64_t modules; /* which ones are loaded, and where; 0: unknown */
};
/*
 * MMUS are the current ones of the vCPUs. A kernel that none of them maps at its old place is gone,
 * whatever memory still contains: a reset does not clear memory (QEMU 7.2). A vCPU with an unknown
 * CR3 (kernel_search.h) is assumed to run the kernel that can be found in memory: after a reset
 * into firmware that runs in long mode (UEFI), that is the old kernel until the next one has
 * booted.
 */
struct guest_state guest_state_read(const struct guest_kernel *kernel, const struct arch_mmu *mmus,
				    size_t count);

#endif
