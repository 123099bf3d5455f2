/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame's row is found through its mapping, which is usually the previous frame's, and its file
 * offset. The row's table also gives the word size: a process can have 64-bit and 32-bit code.
 */
#include "unwind/program/user.h"

#include "base/search.h"
#include "unwind/program/frame_code.h"
#include "unwind/walk/walk.h"

static bool has(const struct unwind_mapping *mapping, uint64_t address)
{
	return address >= mapping->start.value && address < mapping->end.value;
}

const struct unwind_mapping *unwind_program_find(const struct unwind_program *program,
						 uint64_t address)
{
	size_t place;

	if (program->find)
		return program->find(program->context, address);
	place = SEARCH_COUNT(i, program->count, program->mappings[i].end.value <= address);
	return place < program->count && has(&program->mappings[place], address)
		       ? &program->mappings[place]
		       : NULL;
}

const struct unwind_row *unwind_mapping_find(const struct unwind_mapping *mapping, uint64_t address)
{
	uint64_t offset = address - mapping->start.value + mapping->offset;
	const struct unwind_row *row, *other;

	if (!mapping->table)
		return NULL;
	row = unwind_table_find(mapping->table, offset);
	if (!mapping->more || (row && row->type != UNWIND_ROW_UNDEFINED))
		return row;
	other = unwind_table_find(mapping->more, offset);
	return other ? other : row;
}

static inline __attribute__((always_inline)) const struct unwind_row *
find_row(const struct unwind_program *program, const struct unwind_mapping **last,
	 struct unwind_walk *walk)
{
	/* A return address follows its call, so look up the row of the call. */
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
	return unwind_mapping_find(mapping, address);
}

/*
 * A signal handler's return address was not called: the code there only makes a system call that
 * does not return. Its data may start exactly at that address and not a byte before (the 32-bit
 * vDSO since Linux 7.0, arch/x86/entry/vdso/vdso32/sigreturn.S), and may end with the system call,
 * after which IP points (the same until 6.19, and glibc's __restore_rt). So also look up the
 * neighbouring byte. Like step(), for a walk that has ended.
 */
static __attribute__((noinline)) const struct unwind_row *
return_from_signal(const struct unwind_program *program, struct unwind_walk *walk)
{
	uint64_t address = walk->ip - walk->signal;
	const struct unwind_mapping *mapping = unwind_program_find(program, address);
	const struct unwind_row *row;

	if (walk->chain->end != UNWIND_NO_DATA || !mapping || !mapping->table)
		return NULL;
	row = unwind_mapping_find(mapping, address);
	return row && row->type == UNWIND_ROW_SIGNAL && unwind_walk_pass(walk, row) ? row : NULL;
}

/* Of a frame without data: whether nothing can have called it. */
static inline bool is_outermost(const struct unwind_program *program,
				const struct unwind_walk *walk)
{
	if (program->entry_sp && walk->sp == program->entry_sp)
		return true;
	return program->frame_pointers && walk->bp_known && !walk->bp;
}

/* Moves on by one frame and returns the row used; NULL: the walk has ended. */
static inline __attribute__((always_inline)) const struct unwind_row *
step(const struct unwind_program *program, const struct unwind_mapping **last,
     struct unwind_walk *walk)
{
	const struct unwind_row *row = find_row(program, last, walk);

	if (!row || row->type == UNWIND_ROW_UNDEFINED) {
		if (is_outermost(program, walk)) {
			unwind_walk_end(walk, UNWIND_COMPLETE, 0);
			return NULL;
		}
		if (program->frame_pointers)
			row = unwind_walk_by_frame_pointer(walk, true);
	}
	return unwind_walk_pass(walk, row) ? row : return_from_signal(program, walk);
}

static void take_bx(struct unwind_walk *walk)
{
	walk->bx_known = unwind_walk_general(walk, UNWIND_BX, &walk->bx);
}

/* The caller's BX, after a step with ROW from a frame with this BP, if it is known. */
static void pass_bx(struct unwind_walk *walk, const struct unwind_row *row, uint64_t bp,
		    bool bp_known)
{
	if (walk->others) /* it is in the signal's frame */
		return take_bx(walk);
	switch (row->bx_base) {
	case UNWIND_BX_SAME:
		break;
	case UNWIND_BX_AT_PREV_SP:
		walk->bx_known = unwind_walk_peek(walk, walk->sp + row->bx_offset, &walk->bx);
		break;
	case UNWIND_BX_AT_BP:
		walk->bx_known = bp_known && unwind_walk_peek(walk, bp + row->bx_offset, &walk->bx);
		break;
	default:
		walk->bx_known = false;
	}
}

/* The same chain with each frame's BX: that is slower, and few chains need it. */
static __attribute__((noinline)) void
run_with_bx(const struct unwind_program *program, const struct unwind_registers *registers,
	    const struct unwind_stack *stacks, size_t stack_count, struct unwind_chain *chain)
{
	struct unwind_walk walk = unwind_walk_begin(registers, stacks, stack_count, chain);
	const struct unwind_mapping *last = NULL;

	take_bx(&walk);
	while (unwind_walk_add_frame(&walk)) {
		uint64_t bp = walk.bp;
		bool bp_known = walk.bp_known;
		const struct unwind_row *row = step(program, &last, &walk);

		if (!row)
			return;
		pass_bx(&walk, row, bp, bp_known);
	}
}

void unwind_run_user(const struct unwind_program *program, const struct unwind_registers *registers,
		     const struct unwind_stack *stacks, size_t stack_count,
		     struct unwind_chain *chain)
{
	struct unwind_walk walk = unwind_walk_begin(registers, stacks, stack_count, chain);
	const struct unwind_mapping *last = NULL;

	while (unwind_walk_add_frame(&walk) && step(program, &last, &walk))
		;
	if (walk.bx_wanted)
		run_with_bx(program, registers, stacks, stack_count, chain);
}
