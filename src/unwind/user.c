/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame's row is found by its mapping, most often the one before, and by the offset in its file, which says what a
 * word is, too: a process can have 64-bit code and 32-bit code.
 */
#include "unwind/user.h"

#include "unwind/frame_code.h"
#include "unwind/walk.h"

static bool has(const struct unwind_mapping *mapping, uint64_t address)
{
	return address >= mapping->start.value && address < mapping->end.value;
}

const struct unwind_mapping *unwind_program_find(const struct unwind_program *program, uint64_t address)
{
	size_t low = 0, high = program->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (program->mappings[middle].end.value <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < program->count && has(&program->mappings[low], address)
		       ? &program->mappings[low]
		       : NULL;
}

static const struct unwind_row *find_row(const struct unwind_program *program,
					 const struct unwind_mapping **last, struct unwind_walk *walk)
{
	/* In front of a return address is its call, whose row it is. */
	uint64_t address = walk->ip - !walk->signal;
	const struct unwind_mapping *mapping = *last;

	if (!mapping || !has(mapping, address))
		mapping = unwind_program_find(program, address);
	if (mapping && !mapping->table && mapping->functions)
		return unwind_row_by_code(program, mapping, walk);
	if (!mapping || !mapping->table)
		return NULL;
	*last = mapping;
	walk->word_bytes = unwind_table_is_bits32(mapping->table) ? sizeof(uint32_t) : UNWIND_WORD;
	return unwind_table_find(mapping->table, address - mapping->start.value + mapping->offset);
}

static bool pass_guessed(struct unwind_walk *walk)
{
	if (walk->bp_known && !walk->bp)
		return unwind_walk_end(walk, UNWIND_COMPLETE, 0);
	return unwind_walk_pass(walk, unwind_walk_by_frame_pointer(walk, true));
}

/* False: the walk has ended. */
static bool step(const struct unwind_program *program, const struct unwind_mapping **last,
		 struct unwind_walk *walk)
{
	const struct unwind_row *row = find_row(program, last, walk);

	if (program->frame_pointers && (!row || row->type == UNWIND_ROW_UNDEFINED))
		return pass_guessed(walk);
	return unwind_walk_pass(walk, row);
}

void unwind_run_user(const struct unwind_program *program, const struct unwind_registers *registers,
		     const struct unwind_stack *stacks, size_t stack_count,
		     struct unwind_chain *chain)
{
	struct unwind_walk walk = unwind_walk_begin(registers, stacks, stack_count, chain);
	const struct unwind_mapping *last = NULL;

	while (unwind_walk_add_frame(&walk) && step(program, &last, &walk))
		;
}
