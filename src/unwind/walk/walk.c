/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step reads a few words of the copy, and moves up in a stack or enters another one, at most once
 * for each stack: so a chain always ends, whatever the tables and the stacks contain.
 */
#include "unwind/walk/walk.h"

#include "base/search.h"

#include <string.h>

/* AX, CX, DX, BX, SP, BP, SI, DI, and R8 to R15. */
static const struct unwind_layout by_number = {
	.bytes = 8, .words = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }
};
/* struct pt_regs, arch/x86/include/asm/ptrace.h */
static const struct unwind_layout pt_regs = {
	.bytes = 8, .ip = 16, .words = { 10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0 }
};
/* struct sigcontext_64 and _32, arch/x86/include/uapi/asm/sigcontext.h */
static const struct unwind_layout sigcontext = {
	.bytes = 8, .ip = 16, .words = { 13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7 }
};
static const struct unwind_layout sigcontext32 = {
	.bytes = 4, .ip = 14, .words = { 11, 10, 9, 8, 7, 6, 5, 4 } /* there are no others */
};
/* The IRET frame, which is at the end of that. FRED uses the upper bits of the CS word. */
enum { IRET_IP, IRET_CS, IRET_FLAGS, IRET_SP, IRET_SS, IRET_WORDS };

#define KERNEL_CS 0x10 /* __KERNEL_CS, arch/x86/include/asm/segment.h */
#define FLAGS_RESERVED (~0x3fffffULL | 0x8028) /* of RFLAGS: always 0 */

bool unwind_walk_end(struct unwind_walk *walk, enum unwind_end why, uint64_t at)
{
	walk->chain->end = why;
	walk->chain->end_at = at;
	walk->chain->sp = walk->sp;
	walk->chain->entered = walk->entered;
	walk->chain->word_bytes = walk->word_bytes;
	return false;
}

static bool holds(const struct unwind_stack *stack, uint64_t at, uint64_t bytes)
{
	uint64_t offset = at - stack->start.value;

	return offset < stack->bytes && bytes <= stack->bytes - offset;
}

/* The bytes at AT; NULL if neither STACK's copy nor one of its pieces has them. */
static const uint8_t *find_bytes(const struct unwind_stack *stack, uint64_t at, uint64_t bytes)
{
	const struct unwind_piece *piece;
	uint64_t offset;
	size_t place;

	if (holds(stack, at, bytes))
		return stack->data + (at - stack->start.value);
	place = SEARCH_COUNT(i, stack->piece_count, stack->pieces[i].start.value <= at);
	if (!place)
		return NULL;
	piece = &stack->pieces[place - 1];
	offset = at - piece->start.value;
	return offset < piece->bytes && bytes <= piece->bytes - offset ? piece->data + offset
								       : NULL;
}

/* AT is outside the copy of the last stack that was read. */
static __attribute__((noinline)) const uint8_t *enter(struct unwind_walk *walk, uint64_t at,
						      uint64_t bytes)
{
	const uint8_t *found = walk->stack ? find_bytes(walk->stack, at, bytes) : NULL;
	bool cut = false;

	for (size_t i = 0; i < walk->stack_count && !found; i++) {
		const struct unwind_stack *stack = &walk->stacks[i];

		found = find_bytes(stack, at, bytes);
		if (found) {
			if (walk->entered & 1u << i) {
				unwind_walk_end(walk, UNWIND_BAD, at);
				return NULL;
			}
			walk->entered |= 1u << i;
			walk->stack = stack;
		}
		cut |= at >= stack->start.value && at < stack->end.value &&
		       bytes <= stack->end.value - at;
	}
	if (found)
		return found;
	unwind_walk_end(walk, cut ? UNWIND_CUT : UNWIND_UNREADABLE, at);
	return NULL;
}

/* The bytes at AT; NULL: the walk has ended. */
static inline const uint8_t *look(struct unwind_walk *walk, uint64_t at, uint64_t bytes)
{
	if (walk->stack && holds(walk->stack, at, bytes))
		return walk->stack->data + (at - walk->stack->start.value);
	return enter(walk, at, bytes);
}

static inline uint64_t word(const uint8_t *data, size_t number)
{
	uint64_t value;

	memcpy(&value, data + number * UNWIND_WORD, sizeof(value));
	return value;
}

/* A word of BYTES: 8 or 4. */
static inline uint64_t word_of(const uint8_t *data, uint8_t bytes)
{
	uint32_t half;

	if (bytes == UNWIND_WORD)
		return word(data, 0);
	memcpy(&half, data, sizeof(half));
	return half;
}

bool unwind_walk_peek(const struct unwind_walk *walk, uint64_t at, uint64_t *ret)
{
	for (size_t i = 0; i < walk->stack_count; i++) {
		const struct unwind_stack *stack = &walk->stacks[i];

		if (!holds(stack, at, walk->word_bytes))
			continue;
		*ret = word_of(stack->data + (at - stack->start.value), walk->word_bytes);
		return true;
	}
	return false;
}

static inline bool read_word(struct unwind_walk *walk, uint64_t at, uint64_t *ret)
{
	const uint8_t *data = look(walk, at, walk->word_bytes);

	if (!data)
		return false;
	*ret = word_of(data, walk->word_bytes);
	return true;
}

bool unwind_walk_read(struct unwind_walk *walk, uint64_t at, uint64_t *ret)
{
	return read_word(walk, at, ret);
}

bool unwind_walk_general(const struct unwind_walk *walk, enum unwind_register number, uint64_t *ret)
{
	const struct unwind_layout *layout = walk->layout;

	if (walk->others)
		*ret = word_of(walk->others + (size_t)layout->words[number] * layout->bytes,
			       layout->bytes);
	else if (number == UNWIND_BX && walk->bx_known)
		*ret = walk->bx;
	else
		return false;
	return true;
}

static __attribute__((noinline)) bool take_general(struct unwind_walk *walk,
						   enum unwind_register number, uint64_t *ret)
{
	if (unwind_walk_general(walk, number, ret))
		return true;
	walk->bx_wanted = number == UNWIND_BX;
	return unwind_walk_end(walk, UNWIND_NO_REGISTERS, walk->ip);
}

static inline bool has_sp(struct unwind_walk *walk)
{
	return walk->sp_known || unwind_walk_end(walk, UNWIND_NO_REGISTERS, walk->ip);
}

static inline bool has_bp(struct unwind_walk *walk)
{
	return walk->bp_known || unwind_walk_end(walk, UNWIND_NO_REGISTERS, walk->ip);
}

/* The end of the frame, according to the row: its caller's SP, or its registers. */
static inline bool find_frame(struct unwind_walk *walk, const struct unwind_row *row, uint64_t *ret)
{
	switch (row->sp_base) {
	case UNWIND_BASE_SP:
		*ret = walk->sp + row->sp_offset;
		return has_sp(walk);
	case UNWIND_BASE_BP:
		*ret = walk->bp + row->sp_offset;
		return has_bp(walk);
	case UNWIND_BASE_SP_WORDS:
		*ret = walk->sp + row->sp_offset * (int64_t)UNWIND_ROW_WORD;
		return has_sp(walk);
	case UNWIND_BASE_SP_PLT:
		*ret = walk->sp + row->sp_offset;
		if ((int)(walk->ip & 15) >= row->bp_offset)
			*ret += walk->word_bytes;
		return has_sp(walk);
	case UNWIND_BASE_SP_INDIRECT_WORD:
		if (!has_sp(walk) || !read_word(walk, walk->sp + row->sp_offset, ret))
			return false;
		*ret += walk->word_bytes;
		return true;
	case UNWIND_BASE_SP_INDIRECT:
		if (!has_sp(walk) || !read_word(walk, walk->sp, ret))
			return false;
		*ret += row->sp_offset;
		return true;
	case UNWIND_BASE_SP_OFFSET_INDIRECT:
		return has_sp(walk) && read_word(walk, walk->sp + row->sp_offset, ret);
	case UNWIND_BASE_BP_INDIRECT:
		return has_bp(walk) && read_word(walk, walk->bp + row->sp_offset, ret);
	case UNWIND_BASE_OTHER:
		return unwind_walk_end(walk, UNWIND_NO_REGISTERS, walk->ip);
	}
	if (row->sp_base < UNWIND_BASE_GENERAL)
		return unwind_walk_end(walk, UNWIND_NO_DATA, walk->ip);
	if (!take_general(walk, row->sp_base - UNWIND_BASE_GENERAL, ret))
		return false;
	*ret += row->sp_offset;
	return true;
}

/* Some leaf functions save BP below SP, where nothing may have been copied: then it is lost. */
static inline bool read_bp(struct unwind_walk *walk, uint64_t at, uint64_t *ret)
{
	walk->bp_known =
		at >= walk->sp || (walk->stack && holds(walk->stack, at, walk->word_bytes));
	return !walk->bp_known || read_word(walk, at, ret);
}

static __attribute__((noinline)) bool
find_rare_bp(struct unwind_walk *walk, const struct unwind_row *row, uint64_t frame, uint64_t *ret)
{
	if (row->bp_base == UNWIND_BASE_BP)
		return has_bp(walk) && read_word(walk, walk->bp + row->bp_offset, ret);
	if (row->bp_base == UNWIND_BASE_BP_TOP && walk->bp >= walk->sp && walk->bp < frame)
		return has_bp(walk) && read_word(walk, walk->bp, ret);
	if (row->bp_base == UNWIND_BASE_OTHER)
		walk->bp_known = false;
	return true;
}

/* Finds BP with the row; FRAME is the result of find_frame(). */
static inline bool find_bp(struct unwind_walk *walk, const struct unwind_row *row, uint64_t frame,
			   uint64_t *ret)
{
	if (row->bp_base == UNWIND_BASE_PREV_SP)
		return read_bp(walk, frame + row->bp_offset, ret);
	return row->bp_base == UNWIND_BASE_UNDEFINED || find_rare_bp(walk, row, frame, ret);
}

/* Moves to the caller, whose return address is just below FRAME. */
static inline bool pass_call(struct unwind_walk *walk, const struct unwind_row *row, uint64_t frame)
{
	uint64_t bp = walk->bp;

	if (row->bp_base == UNWIND_BASE_BP_TOP && !has_sp(walk))
		return false;
	if (!read_word(walk, frame - walk->word_bytes, &walk->ip) ||
	    !find_bp(walk, row, frame, &bp))
		return false;
	walk->sp = frame;
	walk->sp_known = true;
	walk->bp = bp;
	walk->others = NULL;
	return true;
}

/* REGS: the registers that end with IRET; NULL: the user's registers are still unchanged. */
static bool end_at_user(struct unwind_walk *walk, const uint8_t *iret, const uint8_t *regs)
{
	struct unwind_registers *user = &walk->chain->user;

	*user = (struct unwind_registers){ .ip = word(iret, IRET_IP),
					   .sp = word(iret, IRET_SP),
					   .bp = regs ? word(regs, pt_regs.words[UNWIND_BP])
						      : walk->bp,
					   .others = regs,
					   .layout = &pt_regs };
	walk->chain->has_user = true;
	return unwind_walk_end(walk, UNWIND_COMPLETE, 0);
}

/*
 * Only accepts values that the processor can have pushed. If the rows of entry code are wrong, as
 * those of Linux 6.12 are between error_entry() and the switch of stacks, other data is there.
 */
static bool take_iret(struct unwind_walk *walk, const uint8_t *iret, const uint8_t *regs)
{
	uint16_t cs = word(iret, IRET_CS), ss = word(iret, IRET_SS); /* FRED uses the bits above */

	if (word(iret, IRET_FLAGS) & FLAGS_RESERVED)
		return unwind_walk_end(walk, UNWIND_BAD, walk->sp);
	if ((cs & 3) == 3 && (ss & 3) == 3)
		return end_at_user(walk, iret, regs);
	if (cs != KERNEL_CS)
		return unwind_walk_end(walk, UNWIND_BAD, walk->sp);
	walk->ip = word(iret, IRET_IP);
	walk->sp = word(iret, IRET_SP);
	walk->sp_known = true;
	return true;
}

static __attribute__((noinline)) bool pass_registers(struct unwind_walk *walk,
						     const struct unwind_row *row, uint64_t at)
{
	const uint8_t *regs = look(walk, at, UNWIND_PT_REGS_BYTES);
	uint64_t bp;

	if (!regs || !take_iret(walk, regs + pt_regs.ip * UNWIND_WORD, regs))
		return false;
	bp = word(regs, pt_regs.words[UNWIND_BP]);
	if (!find_bp(walk, row, at, &bp))
		return false;
	walk->bp = bp;
	walk->bp_known = true;
	walk->others = regs;
	walk->layout = &pt_regs;
	return true;
}

/* Entry code that has not saved the other registers yet: those already known are still valid. */
static __attribute__((noinline)) bool pass_iret(struct unwind_walk *walk,
						const struct unwind_row *row, uint64_t at)
{
	const uint8_t *iret = look(walk, at, IRET_WORDS * UNWIND_WORD);
	uint64_t bp = walk->bp;

	if (!iret || !take_iret(walk, iret, NULL) || !find_bp(walk, row, at, &bp))
		return false;
	walk->bp = bp;
	return true;
}

/*
 * A signal's frame. The next frame can be anywhere: the handler may have had its own stack. The
 * code to which the handler returns, whose frame was added last, was not called: its address is
 * exact, and usually the first of its function.
 */
static __attribute__((noinline)) bool pass_signal(struct unwind_walk *walk,
						  const struct unwind_row *row)
{
	const struct unwind_layout *layout =
		walk->word_bytes == UNWIND_WORD ? &sigcontext : &sigcontext32;
	uint8_t bytes = layout->bytes;
	uint64_t at = walk->sp + row->sp_offset - layout->words[UNWIND_SP] * bytes;
	uint64_t bp;
	const uint8_t *context;

	if (!has_sp(walk) || !read_word(walk, walk->sp + row->bp_offset, &bp))
		return false;
	context = look(walk, at, (layout->ip + 1) * bytes);
	if (!context)
		return false;
	walk->ip = word_of(context + layout->ip * bytes, bytes);
	walk->sp = word_of(context + layout->words[UNWIND_SP] * bytes, bytes);
	walk->bp = bp;
	walk->bp_known = true;
	walk->others = context;
	walk->layout = layout;
	if (walk->chain->count)
		walk->chain->frames[walk->chain->count - 1].kind = UNWIND_FRAME_INTERRUPT;
	return true;
}

static inline bool pass_by(struct unwind_walk *walk, const struct unwind_row *row)
{
	uint64_t frame = 0;

	if (row->type == UNWIND_ROW_SIGNAL)
		return pass_signal(walk, row);
	if (!find_frame(walk, row, &frame))
		return false;
	if (row->type == UNWIND_ROW_CALL)
		return pass_call(walk, row, frame);
	if (row->type == UNWIND_ROW_REGS)
		return pass_registers(walk, row, frame);
	return pass_iret(walk, row, frame);
}

bool unwind_walk_pass(struct unwind_walk *walk, const struct unwind_row *row)
{
	const struct unwind_stack *stack = walk->stack;
	uint64_t sp = walk->sp;

	if (!row || row->type == UNWIND_ROW_UNDEFINED)
		return unwind_walk_end(walk, UNWIND_NO_DATA, walk->ip);
	if (row->type == UNWIND_ROW_END)
		return unwind_walk_end(walk, UNWIND_COMPLETE, 0);
	if (!pass_by(walk, row))
		return false;
	walk->signal = row->signal;
	if (walk->stack == stack && walk->sp <= sp)
		return unwind_walk_end(walk, UNWIND_BAD, walk->sp);
	return true;
}

const struct unwind_row *unwind_walk_by_frame_pointer(struct unwind_walk *walk, bool guessed)
{
	static const struct unwind_row frame_pointer = {
		.type = UNWIND_ROW_CALL,
		.sp_base = UNWIND_BASE_BP,
		.sp_offset = 2 * UNWIND_WORD,
		.bp_base = UNWIND_BASE_PREV_SP,
		.bp_offset = -2 * (int)UNWIND_WORD,
	};

	if (!walk->bp_known || walk->bp < walk->sp || walk->bp % UNWIND_WORD)
		return NULL;
	walk->guessed |= guessed;
	return &frame_pointer;
}

bool unwind_walk_add_frame(struct unwind_walk *walk)
{
	struct unwind_chain *chain = walk->chain;

	if (chain->count == chain->capacity)
		return unwind_walk_end(walk, UNWIND_TOO_DEEP, 0);
	chain->frames[chain->count++] = (struct unwind_frame){
		.address = walk->ip,
		.kind = walk->signal ? UNWIND_FRAME_INTERRUPT : UNWIND_FRAME_CALL,
		.guessed = walk->guessed,
	};
	return true;
}

struct unwind_walk unwind_walk_begin(const struct unwind_registers *registers,
				     const struct unwind_stack *stacks, size_t stack_count,
				     struct unwind_chain *chain)
{
	chain->count = 0;
	chain->has_user = false;
	return (struct unwind_walk){
		.stacks = stacks,
		.stack_count = stack_count < UNWIND_MAX_STACKS ? stack_count : UNWIND_MAX_STACKS,
		.ip = registers->ip,
		.sp = registers->sp_unknown ? 0 : registers->sp,
		.bp = registers->bp,
		.others = registers->others,
		.layout = registers->layout ? registers->layout : &by_number,
		.sp_known = !registers->sp_unknown,
		.bp_known = true,
		.signal = !registers->ip_is_return_address,
		.word_bytes = UNWIND_WORD,
		.chain = chain,
	};
}
