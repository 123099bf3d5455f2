/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains where frames say where their callers' are (arch->frames): kernels of arm64 and
 * ppc64le.
 */
#ifndef UNWIND_WALK_LINKED_H
#define UNWIND_WALK_LINKED_H

#include "unwind/walk/unwind.h"

/*
 * As unwind_run(). REGISTERS: ip, ip_is_return_address, and bp, the frame register (x29, r1). ARCH
 * has frames. TABLE knows trampolines; NULL: there are none. Callers of code that was interrupted
 * are guessed: it may not have made its frame yet. Of user code that entered the kernel nothing is
 * said.
 */
void unwind_run_linked(const struct arch *arch, const struct unwind_table *table,
		       const struct unwind_registers *registers, const struct unwind_stack *stacks,
		       size_t stack_count, struct unwind_chain *chain);

#endif
