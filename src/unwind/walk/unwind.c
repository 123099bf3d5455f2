/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows one frame after another, like unwind_next_frame() (arch/x86/kernel/unwind_orc.c): the row
 * for the instruction gives the caller's SP, with the return address just below, or the position of
 * a struct pt_regs; and the caller's BP.
 *
 * Code without rows in the range of kernel code was generated at run time (BPF programs,
 * trampolines). It is assumed to keep a frame pointer, as the kernel does (orc_fp_entry); that
 * frame's caller and all frames after it are marked as guesses. A kernel that has no rows at all,
 * but is built with frame pointers, is walked by following those (arch/x86/kernel/unwind_frame.c).
 */
#include "unwind/walk/unwind.h"

#include "unwind/table/calls.h"
#include "unwind/walk/walk.h"

#define FRED_PADDING 16 /* TOP_OF_KERNEL_STACK_PADDING of kernels with CONFIG_X86_FRED */

/*
 * Where a stack's first registers are: those of user code, or meaningless ones for a kernel thread.
 */
static bool is_top(const struct unwind_walk *walk, uint64_t regs)
{
	for (size_t i = 0; i < walk->stack_count; i++) {
		uint64_t below = walk->stacks[i].end.value - regs;

		if (below == UNWIND_PT_REGS_BYTES || below == UNWIND_PT_REGS_BYTES + FRED_PADDING)
			return true;
	}
	return false;
}

/*
 * For a kernel that keeps frame pointers. Entry code has none: it puts the address of its registers
 * there, plus 1 (ENCODE_FRAME_POINTER), or anything for a system call, whose registers are at SP.
 */
static const struct unwind_row *follow_frame_pointer(struct unwind_walk *walk)
{
	static const struct unwind_row top = { .type = UNWIND_ROW_END };
	static const struct unwind_row encoded = {
		.type = UNWIND_ROW_REGS, .sp_base = UNWIND_BASE_BP, .sp_offset = -1, .signal = true
	};

	if (is_top(walk, walk->sp))
		return &top;
	if (walk->bp & 1)
		return is_top(walk, walk->bp - 1) ? &top : &encoded;
	/* Interrupted code may not have set up its frame yet, which would miss its caller. */
	return unwind_walk_by_frame_pointer(walk, walk->signal);
}

static const struct unwind_row *find_row(const struct unwind_table *table, struct unwind_walk *walk)
{
	/* A call through a NULL pointer: null_orc_entry. */
	static const struct unwind_row null_call = {
		.type = UNWIND_ROW_CALL,
		.sp_base = UNWIND_BASE_SP,
		.sp_offset = UNWIND_WORD,
	};
	/* A return address follows its call, so look up the row of the call. */
	const struct unwind_row *row = unwind_table_find(table, walk->ip - !walk->signal);

	if (row)
		return row;
	if (!walk->ip && walk->signal)
		return &null_call;
	if (walk->ip < UNWIND_CODE_START)
		return NULL;
	if (unwind_table_expects_frame_pointers(table))
		return follow_frame_pointer(walk);
	return unwind_walk_by_frame_pointer(walk, true);
}

bool unwind_walk_step(const struct unwind_table *table, struct unwind_walk *walk)
{
	if (!unwind_walk_pass(walk, find_row(table, walk)))
		return false;
	if (unwind_table_is_trampoline(table, walk->ip))
		return unwind_walk_end(walk, UNWIND_REPLACED, walk->ip);
	if (walk->ip < UNWIND_CODE_START && (walk->ip || !walk->signal))
		return unwind_walk_end(walk, UNWIND_NO_DATA, walk->ip);
	return true;
}

void unwind_run(const struct unwind_table *table, const struct unwind_registers *registers,
		const struct unwind_stack *stacks, size_t stack_count, struct unwind_chain *chain)
{
	struct unwind_walk walk = unwind_walk_begin(registers, stacks, stack_count, chain);

	while (unwind_walk_add_frame(&walk) && unwind_walk_step(table, &walk))
		;
}
