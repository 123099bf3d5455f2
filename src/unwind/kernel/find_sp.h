/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack pointer of kernel code, where it alone is not known, by what is in the stacks that it
 * can be in.
 */
#ifndef UNWIND_KERNEL_FIND_SP_H
#define UNWIND_KERNEL_FIND_SP_H

#include "unwind/walk/unwind.h"

enum unwind_sp {
	UNWIND_SP_FOUND,
	UNWIND_SP_NONE,    /* none could be it */
	UNWIND_SP_SEVERAL, /* more than one could be */
	/* one could be whose chain breaks off, or the search would take too long */
	UNWIND_SP_UNSURE,
	/* its row goes by another register, or the code may run on another stack */
	UNWIND_SP_NOT_SOUGHT,
	UNWIND_SP_ENDS,
};

/*
 * STACKS are whole, and SP is in one of them, if the code at REGISTERS->ip is not of that which
 * runs elsewhere. *RET_SP is the only value that is consistent: with TABLE, with the calls that it
 * has (unwind_table_calls()), and with the stacks up to their end.
 */
enum unwind_sp unwind_find_sp(const struct unwind_table *table,
			      const struct unwind_registers *registers,
			      const struct unwind_stack *stacks, size_t stack_count,
			      uint64_t *ret_sp);

#endif
