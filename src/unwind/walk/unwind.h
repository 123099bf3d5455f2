/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel call chain from registers and a copy of the stacks, using unwind data. Allocates
 * nothing, and reads only the copy and the tables: some ten nanoseconds per frame.
 */
#ifndef UNWIND_WALK_UNWIND_H
#define UNWIND_WALK_UNWIND_H

#include "unwind/table/table.h"

#define UNWIND_MAX_STACKS 8

/* Some bytes of a stack. */
struct unwind_piece {
	struct gva start;
	uint64_t bytes;
	const uint8_t *data; /* borrowed, of any alignment */
};

/* The captured part of one stack. */
struct unwind_stack {
	struct gva start;
	uint64_t bytes;      /* copied, starting at START */
	const uint8_t *data; /* borrowed, of any alignment */
	struct gva end;      /* of the stack, exclusive: the copy may end earlier */
	/* More copied parts after the first one: ascending, no overlaps; borrowed. */
	const struct unwind_piece *pieces;
	size_t piece_count;
};

/*
 * Positions of the general registers in a structure: word numbers; words have BYTES, little-endian.
 */
struct unwind_layout {
	uint8_t bytes;
	uint8_t ip;                              /* word number */
	uint8_t words[UNWIND_GENERAL_REGISTERS]; /* for each register */
};

struct unwind_registers {
	uint64_t ip, sp, bp;
	/* the other general registers, of any alignment; borrowed; NULL: unknown */
	const void *others;
	/* layout of OTHERS; NULL: 8 bytes each, ordered by number */
	const struct unwind_layout *layout;
	bool ip_is_return_address; /* of a call: the stack of a sleeping thread */
	bool sp_unknown; /* SP is invalid: only rows that use other registers can be followed */
};

struct unwind_frame {
	uint64_t address; /* depends on enum unwind_frame_kind */
	uint8_t kind;
	bool guessed; /* found without unwind data, using frame pointers */
};

enum unwind_frame_kind {
	UNWIND_FRAME_CALL,      /* a return address: the call is just before it */
	/* the interrupted or sampled instruction, or what a signal's handler returns to */
	UNWIND_FRAME_INTERRUPT,
};

enum unwind_end {
	UNWIND_COMPLETE,     /* at the registers of user code, or where a kernel thread begins */
	UNWIND_CUT,          /* the stack continues beyond the copy */
	UNWIND_NO_DATA,      /* none for the code at end_at */
	UNWIND_UNREADABLE,   /* end_at is in none of the stacks */
	/* the stack of the code at end_at is in a register that is unknown */
	UNWIND_NO_REGISTERS,
	UNWIND_REPLACED,     /* a tracer has the return address; end_at is the tracer's */
	UNWIND_BAD,          /* the stack does not go up from end_at, as every valid one does */
	UNWIND_TOO_DEEP,     /* there is no room for more frames */
	UNWIND_ENDS,
};

struct unwind_chain {
	struct unwind_frame *frames; /* borrowed; innermost first */
	size_t capacity, count;
	enum unwind_end end;
	uint64_t end_at; /* 0: not applicable */
	uint64_t sp;      /* of the last frame; 0: unknown */
	uint32_t entered; /* bit mask of stacks where frames were found */
	uint8_t word_bytes; /* on the last frame's stack: 8, or 4 in 32-bit programs */
	/*
	 * Where user code entered the kernel, if the chain got that far; it borrows from the
	 * stacks.
	 */
	bool has_user;
	struct unwind_registers user;
};

/*
 * Fills in CHAIN, in which the caller has set frames and capacity (at least 1). The first frame is
 * REGISTERS->ip. There are at most UNWIND_MAX_STACKS, and each is entered at most once.
 */
void unwind_run(const struct unwind_table *table, const struct unwind_registers *registers,
		const struct unwind_stack *stacks, size_t stack_count, struct unwind_chain *chain);

#endif
