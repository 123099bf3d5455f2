/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the walks through kernel code (unwind.c) and user code (user.c): one step with a row.
 */
#ifndef UNWIND_WALK_WALK_H
#define UNWIND_WALK_WALK_H

#include "unwind/walk/unwind.h"

#define UNWIND_WORD sizeof(uint64_t)
#define UNWIND_PT_REGS_BYTES (21 * UNWIND_WORD)

struct unwind_walk {
	const struct unwind_stack *stacks;
	size_t stack_count;
	const struct unwind_stack *stack; /* last stack read; NULL at first */
	uint32_t entered;                 /* bit mask of stacks */
	uint64_t ip, sp, bp; /* sp is 0 if it is unknown */
	const uint8_t *others; /* as in struct unwind_registers */
	const struct unwind_layout *layout; /* layout of OTHERS */
	uint64_t bx;
	bool sp_known, bp_known;
	bool bx_known; /* even if OTHERS are not */
	bool bx_wanted; /* a frame needed BX, and it was unknown */
	bool signal;  /* the instruction at ip was interrupted: ip is not a return address */
	bool guessed; /* this frame and all after it */
	uint8_t word_bytes; /* of the current code */
	struct unwind_chain *chain;
};

/* Starts at REGISTERS, with an empty CHAIN. */
struct unwind_walk unwind_walk_begin(const struct unwind_registers *registers,
				     const struct unwind_stack *stacks, size_t stack_count,
				     struct unwind_chain *chain);
/* Adds the current frame of WALK; false: the chain is full, and has ended. */
bool unwind_walk_add_frame(struct unwind_walk *walk);
/* Moves to the caller with ROW, or NULL if there is none; false: the chain has ended. */
bool unwind_walk_pass(struct unwind_walk *walk, const struct unwind_row *row);
/* Moves up one frame in a kernel's stack; false: the chain has ended (unwind.c). */
bool unwind_walk_step(const struct unwind_table *table, struct unwind_walk *walk);
/* Reads the word at AT and enters its stack; false: the walk has ended. */
bool unwind_walk_read(struct unwind_walk *walk, uint64_t at, uint64_t *ret);
/* Reads the program's word at AT without entering its stack; false: it was not copied. */
bool unwind_walk_peek(const struct unwind_walk *walk, uint64_t at, uint64_t *ret);
/* A general register other than SP and BP; false: it is unknown. */
bool unwind_walk_general(const struct unwind_walk *walk, enum unwind_register number,
			 uint64_t *ret);
/* Ends the chain; returns false. */
bool unwind_walk_end(struct unwind_walk *walk, enum unwind_end why, uint64_t at);
/* A row for code that keeps a frame pointer, which may be GUESSED; NULL: BP cannot be one. */
const struct unwind_row *unwind_walk_by_frame_pointer(struct unwind_walk *walk, bool guessed);

#endif
