/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scans from the last frame's SP, and then the stacks that the chain did not reach. */
#include "unwind/program/scan.h"

#include <string.h>

#include "unwind/walk/walk.h"

struct scan {
	const struct unwind_table *table;     /* for a kernel, */
	const struct unwind_program *program; /* or NULL, and this one */
	struct unwind_chain *chain;
};

/*
 * A return address follows its call. The call may be in code without unwind data, where chains
 * break off.
 */
static bool is_behind_code(const struct scan *scan, uint64_t word)
{
	return scan->table ? (bool)unwind_table_find(scan->table, word - 1)
			   : (bool)unwind_program_find(scan->program, word - 1);
}

static void scan_stack(const struct scan *scan, const struct unwind_stack *stack, uint64_t from)
{
	struct unwind_chain *chain = scan->chain;
	const uint64_t bytes = chain->word_bytes;

	for (uint64_t at = (from + bytes - 1) & ~(bytes - 1);
	     at - stack->start.value + bytes <= stack->bytes && chain->count < chain->capacity;
	     at += bytes) {
		uint64_t word = 0;

		/* little-endian, like x86 */
		memcpy(&word, stack->data + (at - stack->start.value), bytes);
		if (is_behind_code(scan, word))
			chain->frames[chain->count++] = (struct unwind_frame){
				.address = word, .kind = UNWIND_FRAME_CALL, .guessed = true
			};
	}
}

static void scan_stacks(const struct scan *scan, const struct unwind_stack *stacks,
			size_t stack_count)
{
	uint32_t seen = scan->chain->entered;
	uint64_t sp = scan->chain->sp;

	if (scan->chain->end == UNWIND_COMPLETE)
		return;
	if (stack_count > UNWIND_MAX_STACKS)
		stack_count = UNWIND_MAX_STACKS;
	for (size_t i = 0; i < stack_count; i++) {
		if (sp - stacks[i].start.value >= stacks[i].bytes)
			continue;
		scan_stack(scan, &stacks[i], sp);
		seen |= 1u << i;
	}
	for (size_t i = 0; i < stack_count; i++)
		if (!(seen & 1u << i))
			scan_stack(scan, &stacks[i], stacks[i].start.value);
}

void unwind_scan(const struct unwind_table *table, const struct unwind_stack *stacks,
		 size_t stack_count, struct unwind_chain *chain)
{
	struct scan scan = { .table = table, .chain = chain };

	scan_stacks(&scan, stacks, stack_count);
}

void unwind_scan_user(const struct unwind_program *program, const struct unwind_stack *stacks,
		      size_t stack_count, struct unwind_chain *chain)
{
	struct scan scan = { .program = program, .chain = chain };

	scan_stacks(&scan, stacks, stack_count);
}
