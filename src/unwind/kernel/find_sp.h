/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds an unknown stack pointer of kernel code from the contents of the stacks that it can be in.
 */
#ifndef UNWIND_KERNEL_FIND_SP_H
#define UNWIND_KERNEL_FIND_SP_H

#include "unwind/walk/unwind.h"

enum unwind_sp {
	UNWIND_SP_FOUND,
	UNWIND_SP_NONE,    /* no candidate fits */
	UNWIND_SP_SEVERAL, /* more than one candidate fits */
	/* a candidate's chain breaks off, or the search would take too long */
	UNWIND_SP_UNSURE,
	/* its row uses another register, or the code may run on another stack */
	UNWIND_SP_NOT_SOUGHT,
	UNWIND_SP_ENDS,
};

/*
 * STACKS are complete, and SP is in one of them unless the code at REGISTERS->ip may run on other
 * stacks. *RET_SP is the only value consistent with TABLE, with its calls (unwind_table_calls()),
 * and with the stacks up to their end.
 */
enum unwind_sp unwind_find_sp(const struct unwind_table *table,
			      const struct unwind_registers *registers,
			      const struct unwind_stack *stacks, size_t stack_count,
			      uint64_t *ret_sp);

#endif
