/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds page tables that map a guest's Linux kernel in its memory: for guests whose CR3 the host
 * cannot read.
 */
#ifndef GUEST_KERNEL_KERNEL_SEARCH_H
#define GUEST_KERNEL_KERNEL_SEARCH_H

#include <stdbool.h>

#include "arch/arch.h"
#include "base/error.h"
#include "guest/memory/memory.h"

/*
 * Whether MMU belongs to a vCPU with an unknown CR3: it is 0, though the vCPU runs in long mode.
 * The other registers must be correct.
 */
bool guest_kernel_search_wanted(const struct arch_mmu *mmu);

/*
 * Completes such an MMU with a CR3 that maps the kernel image and little else. Reads the memory
 * below 1 MiB and some 10 more pages, whatever the guest's size. ERROR_NOT_FOUND: there are no such
 * tables, or those of several kernels.
 */
struct error *guest_kernel_search(struct guest_memory *memory, struct arch_mmu *mmu) MUST_CHECK;

#endif
