/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables that map a guest's Linux kernel, found in its memory: for guests whose CR3 the host
 * cannot say.
 */
#ifndef GUEST_KERNEL_KERNEL_SEARCH_H
#define GUEST_KERNEL_KERNEL_SEARCH_H

#include <stdbool.h>

#include "arch/arch.h"
#include "base/error.h"
#include "guest/memory/memory.h"

/*
 * Whether MMU is that of a vCPU whose CR3 is not known: 0, though it runs in long mode. What its
 * other registers say must be true.
 */
bool guest_kernel_search_wanted(const struct arch_mmu *mmu);

/*
 * Completes such an MMU by a CR3 that maps the kernel image and little else. Reads the memory below
 * 1 MiB and some 10 pages, whatever the guest's size. ERROR_NOT_FOUND: there are none, or of
 * several kernels.
 */
struct error *guest_kernel_search(struct guest_memory *memory, struct arch_mmu *mmu) MUST_CHECK;

#endif
