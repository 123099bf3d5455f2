/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel call chain from registers and a copy of the stacks, by unwind data. Nothing is
 * allocated, and nothing but the copy and the tables is read: some ten nanoseconds a frame.
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
	uint64_t bytes;      /* copied, from START on */
	const uint8_t *data; /* borrowed, of any alignment */
	struct gva end;      /* of the stack, exclusive: what is behind the copy was cut off */
	/* But for these: they ascend, without overlaps; borrowed. */
	const struct unwind_piece *pieces;
	size_t piece_count;
};

/* Where the general registers are in what holds them: by words of BYTES, little-endian. */
struct unwind_layout {
	uint8_t bytes;
	uint8_t ip;                              /* its word */
	uint8_t words[UNWIND_GENERAL_REGISTERS]; /* of each register */
};

struct unwind_registers {
	uint64_t ip, sp, bp;
	/* the other general registers, of any alignment; borrowed; NULL: they are not known */
	const void *others;
	/* of OTHERS; NULL: 8 bytes each, in the order of their numbers */
	const struct unwind_layout *layout;
	bool ip_is_return_address; /* of a call: the stack of a thread that sleeps */
	bool sp_unknown; /* SP is not: only rows that go by other registers lead on */
};

struct unwind_frame {
	uint64_t address; /* as enum unwind_frame_kind says */
	uint8_t kind;
	bool guessed; /* found without unwind data, by frame pointers */
};

enum unwind_frame_kind {
	UNWIND_FRAME_CALL,      /* a return address: the call is in front of it */
	UNWIND_FRAME_INTERRUPT, /* the instruction that was interrupted, or sampled */
};

enum unwind_end {
	UNWIND_COMPLETE,     /* at the registers of user code, or where a kernel thread begins */
	UNWIND_CUT,          /* the stack goes on behind what was copied */
	UNWIND_NO_DATA,      /* none for the code at end_at */
	UNWIND_UNREADABLE,   /* end_at is in none of the stacks */
	/* the code at end_at keeps its stack in a register that is not known */
	UNWIND_NO_REGISTERS,
	UNWIND_REPLACED,     /* a tracer holds the return address; end_at is the tracer's */
	UNWIND_BAD,          /* the stack does not go upwards from end_at, which no true one does */
	UNWIND_TOO_DEEP,     /* there are more frames than there is room for */
	UNWIND_ENDS,
};

struct unwind_chain {
	struct unwind_frame *frames; /* borrowed; innermost first */
	size_t capacity, count;
	enum unwind_end end;
	uint64_t end_at; /* 0: nothing to be said */
	uint64_t sp;      /* of the last frame; 0: it is not known */
	uint32_t entered; /* stacks, bit by bit, where frames have been found */
	uint8_t word_bytes; /* on the last frame's stack: 8, in 32-bit programs 4 */
	/*
	 * Where user code entered the kernel, if the chain got there; what it borrows is in the
	 * stacks.
	 */
	bool has_user;
	struct unwind_registers user;
};

/*
 * Fills CHAIN, of which the caller has set frames and capacity (at least 1). The first frame is
 * REGISTERS->ip. At most UNWIND_MAX_STACKS, each entered once at most.
 */
void unwind_run(const struct unwind_table *table, const struct unwind_registers *registers,
		const struct unwind_stack *stacks, size_t stack_count, struct unwind_chain *chain);

#endif
