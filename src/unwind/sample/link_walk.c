/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link register holds the return address of the innermost function until that calls another
 * one; every other frame has saved its own. The BX fields of a row say where (row.h). SP grows with
 * each frame, except for a first one that has no stack and returns by the register: so a walk ends.
 */
#include "unwind/sample/link_walk.h"

#include "unwind/walk/walk.h"

/* The caller's SP; false: the chain has ended. */
static bool find_frame(struct unwind_walk *walk, const struct unwind_row *row, uint64_t *ret)
{
	switch (row->sp_base) {
	case UNWIND_BASE_SP:
		*ret = walk->sp + row->sp_offset;
		return true;
	case UNWIND_BASE_SP_WORDS:
		*ret = walk->sp + row->sp_offset * (int64_t)UNWIND_ROW_WORD;
		return true;
	case UNWIND_BASE_BP:
		*ret = walk->bp + row->sp_offset;
		return walk->bp_known || unwind_walk_end(walk, UNWIND_NO_REGISTERS, walk->ip);
	default:
		return unwind_walk_end(walk, UNWIND_NO_REGISTERS, walk->ip);
	}
}

static bool find_return(struct unwind_walk *walk, const struct unwind_row *row, uint64_t frame,
			uint64_t *ret)
{
	if (row->bx_base == UNWIND_BX_AT_PREV_SP)
		return unwind_walk_read(walk, frame + row->bx_offset, ret);
	*ret = walk->bx;
	return (row->bx_base == UNWIND_BX_SAME && walk->bx_known) ||
	       unwind_walk_end(walk, UNWIND_NO_REGISTERS, walk->ip);
}

static bool find_bp(struct unwind_walk *walk, const struct unwind_row *row, uint64_t frame)
{
	if (row->bp_base == UNWIND_BASE_PREV_SP) {
		walk->bp_known = true;
		return unwind_walk_read(walk, frame + row->bp_offset, &walk->bp);
	}
	walk->bp_known &= row->bp_base == UNWIND_BASE_UNDEFINED;
	return true;
}

static bool step(struct unwind_walk *walk, const struct unwind_row *row, uint64_t address_bits)
{
	bool by_link = row && row->bx_base == UNWIND_BX_SAME;
	uint64_t frame = 0, address = 0;

	if (row && row->type == UNWIND_ROW_END)
		return unwind_walk_end(walk, UNWIND_COMPLETE, 0);
	if (!row || row->type != UNWIND_ROW_CALL)
		return unwind_walk_end(walk, UNWIND_NO_DATA, walk->ip);
	if (!find_frame(walk, row, &frame) || !find_return(walk, row, frame, &address) ||
	    !find_bp(walk, row, frame))
		return false;
	if (frame < walk->sp || (frame == walk->sp && !by_link))
		return unwind_walk_end(walk, UNWIND_BAD, frame);
	walk->sp = frame;
	walk->ip = address & address_bits;
	walk->bx_known = false;
	walk->signal = false;
	return walk->ip || unwind_walk_end(walk, UNWIND_COMPLETE, 0);
}

static const struct unwind_row *find_row(const struct unwind_program *program,
					 const struct unwind_walk *walk)
{
	uint64_t address = walk->ip - !walk->signal;
	const struct unwind_mapping *mapping = unwind_program_find(program, address);

	return mapping ? unwind_mapping_find(mapping, address) : NULL;
}

void unwind_run_link(const struct unwind_program *program, const struct unwind_registers *registers,
		     uint64_t link, uint64_t address_bits, const struct unwind_stack *stack,
		     struct unwind_chain *chain)
{
	struct unwind_walk walk = unwind_walk_begin(registers, stack, 1, chain);

	walk.bx = link;
	walk.bx_known = true;
	while (unwind_walk_add_frame(&walk) && step(&walk, find_row(program, &walk), address_bits))
		;
}
