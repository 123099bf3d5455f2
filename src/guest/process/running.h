/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest kernel while it runs: how a sampler finds what a vCPU does at this moment, and whether
 * the kernel that was opened is still the one that runs.
 */
#ifndef GUEST_PROCESS_RUNNING_H
#define GUEST_PROCESS_RUNNING_H

#include "bpf/guest_current.h"
#include "guest/kernel/kernel.h"

/* ERROR_UNSUPPORTED: another architecture, no BTF, no data symbols; the message says which. */
struct error *guest_current_find(const struct guest_kernel *kernel,
				 struct guest_current *ret) MUST_CHECK;
/*
 * From here on KERNEL is read through page tables of its own: those of the process that ran when it
 * was opened go with that process. Where the kernel does not name them nothing changes.
 */
void guest_kernel_use_own_page_tables(const struct guest_kernel *kernel);

/* Numbers that change when what they are of does. */
struct guest_state {
	uint64_t kernel;  /* its banner; 0: it no longer runs, after a reboot or a kexec */
	uint64_t modules; /* which there are, and where; 0: not known */
};
/*
 * MMUS are what vCPUs have now. A kernel that none of them maps where it was is gone, whatever its
 * memory still holds: a reset leaves memory as it was (QEMU 7.2). Of a vCPU whose CR3 is not known
 * (kernel_search.h) it is taken that it runs the kernel that can be found in memory: after a reset
 * into firmware that is in long mode (UEFI) that is the old one, until the next has booted.
 */
struct guest_state guest_state_read(const struct guest_kernel *kernel, const struct arch_mmu *mmus,
				    size_t count);

#endif
