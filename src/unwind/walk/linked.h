/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains for ISAs where frames link to their callers (arch->frames): kernels of arm64 and
 * ppc64le.
 */
#ifndef UNWIND_WALK_LINKED_H
#define UNWIND_WALK_LINKED_H

#include "unwind/walk/unwind.h"

/*
 * Like unwind_run(). REGISTERS: ip, ip_is_return_address, and bp, the frame register (x29, r1).
 * ARCH must have frames. TABLE knows trampolines; NULL: there are none. Callers of interrupted code
 * are guesses, since it may not have set up its frame yet. User code that entered the kernel is not
 * reported.
 */
void unwind_run_linked(const struct arch *arch, const struct unwind_table *table,
		       const struct unwind_registers *registers, const struct unwind_stack *stacks,
		       size_t stack_count, struct unwind_chain *chain);

#endif
