/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the walks through kernel code (unwind.c) and user code (user.c) share: one step by a row. */
#ifndef UNWIND_WALK_WALK_H
#define UNWIND_WALK_WALK_H

#include "unwind/walk/unwind.h"

#define UNWIND_WORD sizeof(uint64_t)
#define UNWIND_PT_REGS_BYTES (21 * UNWIND_WORD)

struct unwind_walk {
	const struct unwind_stack *stacks;
	size_t stack_count;
	const struct unwind_stack *stack; /* what was read last; NULL at first */
	uint32_t entered;                 /* bits of stacks */
	uint64_t ip, sp, bp; /* sp: 0 where it is not known */
	const uint8_t *others; /* as of struct unwind_registers */
	const struct unwind_layout *layout; /* of OTHERS */
	uint64_t bx;
	bool sp_known, bp_known;
	bool bx_known; /* though OTHERS are not */
	bool bx_wanted; /* a frame was by BX, and that was not known */
	bool signal;  /* the instruction at ip was interrupted: ip is no return address */
	bool guessed; /* this frame and all behind it */
	uint8_t word_bytes; /* of the code that is walked through */
	struct unwind_chain *chain;
};

/* At REGISTERS; CHAIN is empty then. */
struct unwind_walk unwind_walk_begin(const struct unwind_registers *registers,
				     const struct unwind_stack *stacks, size_t stack_count,
				     struct unwind_chain *chain);
/* Adds the frame that WALK is at; false: the chain is full, and has ended. */
bool unwind_walk_add_frame(struct unwind_walk *walk);
/* To the caller, by ROW, or NULL where there is none; false: the chain has ended. */
bool unwind_walk_pass(struct unwind_walk *walk, const struct unwind_row *row);
/* One frame further up a kernel's stack; false: the chain has ended (unwind.c). */
bool unwind_walk_step(const struct unwind_table *table, struct unwind_walk *walk);
/* The word at AT, which enters its stack; false: the walk has ended. */
bool unwind_walk_read(struct unwind_walk *walk, uint64_t at, uint64_t *ret);
/* The word of the program at AT, without going there; false: it was not copied. */
bool unwind_walk_peek(const struct unwind_walk *walk, uint64_t at, uint64_t *ret);
/* A general register but SP and BP; false: it is not known. */
bool unwind_walk_general(const struct unwind_walk *walk, enum unwind_register number,
			 uint64_t *ret);
/* Ends the chain; gives false. */
bool unwind_walk_end(struct unwind_walk *walk, enum unwind_end why, uint64_t at);
/* The row of code that keeps a frame pointer, which may be GUESSED; NULL: BP cannot be one. */
const struct unwind_row *unwind_walk_by_frame_pointer(struct unwind_walk *walk, bool guessed);

#endif
