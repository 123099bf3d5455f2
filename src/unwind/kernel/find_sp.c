/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The row for the code at IP gives the position of its return address relative to SP. So each word
 * of the stacks is tried as that return address: it must follow a call that can lead to IP, its
 * frame's caller must be consistent in the same way, and so on up to the end of the stack. Below SP
 * are the frames of calls that have returned, which may be as consistent as the true one. So a
 * candidate is only accepted if no other is left. The true one is never ruled out: the calls
 * (unwind/table/calls.h) and the stacks allow everything that can happen, and a walk that reaches
 * something unknown counts as possibly right. The caller must know that SP is in one of these
 * stacks.
 */
#include "unwind/kernel/find_sp.h"

#include <string.h>

#include "unwind/table/calls.h"
#include "unwind/walk/walk.h"

/* for all walks together; a chain has some 20 frames, a stack some 300 candidate words */
#define MAX_STEPS 4096
/* bytes from the outermost frame to the end: the user's registers, or a thread's */
#define MAX_ABOVE_LAST 512

enum verdict { IMPOSSIBLE, POSSIBLE, CONSISTENT };

struct search {
	const struct unwind_table *table;
	const struct unwind_calls *calls;
	const struct unwind_registers *registers;
	const struct unwind_stack *stacks;
	size_t stack_count, steps_left;
};

static bool is_at_end(const struct unwind_walk *walk)
{
	for (size_t i = 0; i < walk->stack_count; i++) {
		const struct unwind_stack *stack = &walk->stacks[i];

		if (walk->sp - stack->start.value <= stack->bytes &&
		    stack->end.value - walk->sp <= MAX_ABOVE_LAST)
			return true;
	}
	return false;
}

/* Judges a walk that has ended. */
static enum verdict judge_end(const struct search *search, const struct unwind_walk *walk)
{
	uint64_t ip = walk->ip;

	switch (walk->chain->end) {
	case UNWIND_COMPLETE:
		return is_at_end(walk) && !walk->guessed ? CONSISTENT : POSSIBLE;
	case UNWIND_NO_DATA:
		/*
		 * Impossible if the code at IP is fully known and has no call here: then it is no
		 * return address.
		 */
		return !walk->signal && unwind_calls_lead(search->calls, ip, ip) == UNWIND_CALLS_NO
			       ? IMPOSSIBLE
			       : POSSIBLE;
	case UNWIND_BAD:
	case UNWIND_UNREADABLE:
		return IMPOSSIBLE;
	default:
		return POSSIBLE;
	}
}

static enum verdict try(struct search *search, uint64_t sp)
{
	struct unwind_registers registers = *search->registers;
	struct unwind_chain chain = { 0 };
	struct unwind_walk walk;

	registers.sp_unknown = false;
	registers.sp = sp;
	walk = unwind_walk_begin(&registers, search->stacks, search->stack_count, &chain);
	for (;;) {
		uint64_t callee = walk.ip;

		if (!search->steps_left)
			return POSSIBLE;
		search->steps_left--;
		if (!unwind_walk_step(search->table, &walk))
			return judge_end(search, &walk);
		if (!walk.signal &&
		    unwind_calls_lead(search->calls, walk.ip, callee) == UNWIND_CALLS_NO)
			return IMPOSSIBLE;
	}
}

static enum unwind_sp look_through(struct search *search, int16_t offset, uint64_t *ret_sp)
{
	const uint64_t ip = search->registers->ip;
	size_t consistent = 0, possible = 0;
	uint64_t found = 0;

	for (size_t i = 0; i < search->stack_count; i++) {
		const struct unwind_stack *stack = &search->stacks[i];

		for (uint64_t at = offset - UNWIND_WORD; at + UNWIND_WORD <= stack->bytes;
		     at += UNWIND_WORD) {
			uint64_t sp = stack->start.value + at + UNWIND_WORD - offset, word;
			enum verdict verdict;

			memcpy(&word, stack->data + at, sizeof(word));
			if (word < UNWIND_CODE_START)
				continue;
			if (!search->steps_left)
				return UNWIND_SP_UNSURE;
			search->steps_left--;
			if (unwind_calls_lead(search->calls, word, ip) == UNWIND_CALLS_NO)
				continue;
			verdict = try(search, sp);
			consistent += verdict == CONSISTENT;
			possible += verdict == POSSIBLE;
			if (verdict == CONSISTENT)
				found = sp;
		}
	}
	if (possible)
		return UNWIND_SP_UNSURE;
	if (consistent == 1)
		*ret_sp = found;
	return !consistent ? UNWIND_SP_NONE : consistent == 1 ? UNWIND_SP_FOUND : UNWIND_SP_SEVERAL;
}

enum unwind_sp unwind_find_sp(const struct unwind_table *table,
			      const struct unwind_registers *registers,
			      const struct unwind_stack *stacks, size_t stack_count,
			      uint64_t *ret_sp)
{
	const struct unwind_row *row = unwind_table_find(table, registers->ip);
	struct search search = { .table = table,
				 .calls = unwind_table_calls(table),
				 .registers = registers,
				 .stacks = stacks,
				 .stack_count = stack_count,
				 .steps_left = MAX_STEPS };

	if (!search.calls || !row || row->type != UNWIND_ROW_CALL ||
	    row->sp_base != UNWIND_BASE_SP || row->sp_offset < (int)UNWIND_WORD ||
	    row->sp_offset % (int)UNWIND_WORD || registers->ip_is_return_address ||
	    unwind_calls_elsewhere(search.calls, registers->ip))
		return UNWIND_SP_NOT_SOUGHT;
	unwind_calls_begin(search.calls);
	return look_through(&search, row->sp_offset, ret_sp);
}
