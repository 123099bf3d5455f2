/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One frame after another, as unwind_next_frame() does (arch/x86/kernel/unwind_orc.c): the row of the
 * instruction gives the caller's SP, below which is the return address, or where a struct pt_regs is;
 * and the caller's BP.
 *
 * Code that has no rows but lies where the kernel's code does was made at run time (BPF programs,
 * trampolines). It is taken to keep a frame pointer, as the kernel takes it; that frame's caller and
 * all behind it are marked as guessed. A kernel that has no rows at all, but was built with frame
 * pointers, is walked by these (arch/x86/kernel/unwind_frame.c).
 *
 * Every step reads some words of the copy, and goes up in a stack or enters another one, which it can
 * do once for each: a chain ends, whatever the tables and the stacks hold.
 */
#include "unwind/unwind.h"

#include <string.h>

#define KERNEL_CODE_START 0xffffffff80000000ULL /* __START_KERNEL_map; modules are above */
#define WORD sizeof(uint64_t)

/* struct pt_regs (arch/x86/include/asm/ptrace.h), as numbers of words. */
enum {
	PT_R13 = 2,
	PT_BP = 4,
	PT_R10 = 7,
	PT_AX = 10,
	PT_DX = 12,
	PT_DI = 14,
	PT_IP = 16,
	PT_WORDS = 21
};
/* What IRET takes, which is the end of that. FRED uses the upper bits of CS' word. */
#define FRED_PADDING 16 /* TOP_OF_KERNEL_STACK_PADDING of kernels with CONFIG_X86_FRED */
enum { IRET_IP, IRET_CS, IRET_FLAGS, IRET_SP, IRET_SS, IRET_WORDS };

struct walk {
	const struct unwind_table *table;
	const struct unwind_stack *stacks;
	size_t stack_count;
	const struct unwind_stack *stack; /* what was read last; NULL at first */
	uint32_t entered;                 /* bits of stacks */
	uint64_t ip, sp, bp;
	uint64_t ax, dx, di, r10, r13;
	bool others_known, signal, guessed;
	struct unwind_chain *chain;
};

static bool end(struct walk *walk, enum unwind_end why, uint64_t at)
{
	walk->chain->end = why;
	walk->chain->end_at = at;
	return false;
}

static bool holds(const struct unwind_stack *stack, uint64_t at, uint64_t bytes)
{
	uint64_t offset = at - stack->start.value;

	return offset < stack->bytes && bytes <= stack->bytes - offset;
}

/* AT is not in the stack that was read last. */
static __attribute__((noinline)) const uint8_t *enter(struct walk *walk, uint64_t at,
						      uint64_t bytes)
{
	bool cut = false;

	for (size_t i = 0; i < walk->stack_count; i++) {
		const struct unwind_stack *stack = &walk->stacks[i];

		if (holds(stack, at, bytes)) {
			if (walk->entered & 1u << i) {
				end(walk, UNWIND_BAD, at);
				return NULL;
			}
			walk->entered |= 1u << i;
			walk->stack = stack;
			return stack->data + (at - stack->start.value);
		}
		cut |= at >= stack->start.value && at < stack->end.value &&
		       bytes <= stack->end.value - at;
	}
	end(walk, cut ? UNWIND_CUT : UNWIND_UNREADABLE, at);
	return NULL;
}

/* The bytes at AT; NULL: the walk has ended. */
static inline const uint8_t *look(struct walk *walk, uint64_t at, uint64_t bytes)
{
	if (walk->stack && holds(walk->stack, at, bytes))
		return walk->stack->data + (at - walk->stack->start.value);
	return enter(walk, at, bytes);
}

static inline uint64_t word(const uint8_t *data, size_t number)
{
	uint64_t value;

	memcpy(&value, data + number * WORD, sizeof(value));
	return value;
}

static inline bool read_word(struct walk *walk, uint64_t at, uint64_t *ret)
{
	const uint8_t *data = look(walk, at, WORD);

	if (data)
		*ret = word(data, 0);
	return data;
}

/* A register that is only known where a struct pt_regs, or the sample, has just given it. */
static bool take_other(struct walk *walk, uint64_t value, uint64_t *ret)
{
	*ret = value;
	return walk->others_known || end(walk, UNWIND_NO_REGISTERS, walk->ip);
}

/* Where the row's frame ends: its caller's SP, or its registers. */
static inline bool find_frame(struct walk *walk, const struct unwind_row *row, uint64_t *ret)
{
	switch ((enum unwind_base)row->sp_base) {
	case UNWIND_BASE_SP:
		*ret = walk->sp + row->sp_offset;
		return true;
	case UNWIND_BASE_BP:
		*ret = walk->bp + row->sp_offset;
		return true;
	case UNWIND_BASE_SP_INDIRECT:
		if (!read_word(walk, walk->sp, ret))
			return false;
		*ret += row->sp_offset;
		return true;
	case UNWIND_BASE_SP_OFFSET_INDIRECT:
		return read_word(walk, walk->sp + row->sp_offset, ret);
	case UNWIND_BASE_BP_INDIRECT:
		return read_word(walk, walk->bp + row->sp_offset, ret);
	case UNWIND_BASE_AX:
		return take_other(walk, walk->ax, ret);
	case UNWIND_BASE_DX:
		return take_other(walk, walk->dx, ret);
	case UNWIND_BASE_DI:
		return take_other(walk, walk->di, ret);
	case UNWIND_BASE_R10:
		return take_other(walk, walk->r10, ret);
	case UNWIND_BASE_R13:
		return take_other(walk, walk->r13, ret);
	case UNWIND_BASE_UNDEFINED:
	case UNWIND_BASE_PREV_SP:
		break;
	}
	return end(walk, UNWIND_NO_DATA, walk->ip);
}

/* BP by the row, where FRAME is what find_frame() gave. */
static inline bool find_bp(struct walk *walk, const struct unwind_row *row, uint64_t frame,
			   uint64_t *ret)
{
	if (row->bp_base == UNWIND_BASE_PREV_SP)
		return read_word(walk, frame + row->bp_offset, ret);
	if (row->bp_base == UNWIND_BASE_BP)
		return read_word(walk, walk->bp + row->bp_offset, ret);
	return true;
}

/* To the caller, whose return address is below FRAME. */
static inline bool pass_call(struct walk *walk, const struct unwind_row *row, uint64_t frame)
{
	uint64_t bp = walk->bp;

	if (!read_word(walk, frame - WORD, &walk->ip) || !find_bp(walk, row, frame, &bp))
		return false;
	walk->sp = frame;
	walk->bp = bp;
	walk->others_known = false;
	return true;
}

static bool take_iret(struct walk *walk, const uint8_t *iret)
{
	if ((word(iret, IRET_CS) & 3) == 3)
		return end(walk, UNWIND_COMPLETE, 0);
	walk->ip = word(iret, IRET_IP);
	walk->sp = word(iret, IRET_SP);
	return true;
}

static __attribute__((noinline)) bool pass_registers(struct walk *walk,
						     const struct unwind_row *row, uint64_t at)
{
	const uint8_t *regs = look(walk, at, PT_WORDS * WORD);
	uint64_t bp;

	if (!regs || !take_iret(walk, regs + PT_IP * WORD))
		return false;
	bp = word(regs, PT_BP);
	if (!find_bp(walk, row, at, &bp))
		return false;
	walk->bp = bp;
	walk->ax = word(regs, PT_AX);
	walk->dx = word(regs, PT_DX);
	walk->di = word(regs, PT_DI);
	walk->r10 = word(regs, PT_R10);
	walk->r13 = word(regs, PT_R13);
	walk->others_known = true;
	return true;
}

/* Entry code in front of the rest of the registers: those that were known still hold. */
static __attribute__((noinline)) bool pass_iret(struct walk *walk, const struct unwind_row *row,
						uint64_t at)
{
	const uint8_t *iret = look(walk, at, IRET_WORDS * WORD);
	uint64_t bp = walk->bp;

	if (!iret || !take_iret(walk, iret) || !find_bp(walk, row, at, &bp))
		return false;
	walk->bp = bp;
	return true;
}

/* Code that keeps a frame pointer: the kernel's orc_fp_entry. */
static const struct unwind_row frame_pointer = {
	.type = UNWIND_ROW_CALL,
	.sp_base = UNWIND_BASE_BP,
	.sp_offset = 2 * WORD,
	.bp_base = UNWIND_BASE_PREV_SP,
	.bp_offset = -2 * (int)WORD,
};

/* Where a stack's first registers are: of user code, or of a kernel thread, where they mean nothing. */
static bool is_top(const struct walk *walk, uint64_t regs)
{
	for (size_t i = 0; i < walk->stack_count; i++) {
		uint64_t below = walk->stacks[i].end.value - regs;

		if (below == PT_WORDS * WORD || below == PT_WORDS * WORD + FRED_PADDING)
			return true;
	}
	return false;
}

/*
 * A kernel that keeps frame pointers. Entry code has none: it leaves the address of its registers
 * there, plus 1 (ENCODE_FRAME_POINTER), or anything at a system call, whose registers are at SP.
 */
static const struct unwind_row *follow_frame_pointer(struct walk *walk)
{
	static const struct unwind_row top = { .type = UNWIND_ROW_END };
	static const struct unwind_row encoded = {
		.type = UNWIND_ROW_REGS, .sp_base = UNWIND_BASE_BP, .sp_offset = -1, .signal = true
	};

	if (is_top(walk, walk->sp))
		return &top;
	if (walk->bp & 1)
		return is_top(walk, walk->bp - 1) ? &top : &encoded;
	if (walk->bp < walk->sp || walk->bp % WORD)
		return NULL;
	/* What was interrupted may not have made its frame yet: its caller would be missed. */
	walk->guessed |= walk->signal;
	return &frame_pointer;
}

static const struct unwind_row *find_row(struct walk *walk)
{
	/* A call through a NULL pointer: null_orc_entry. */
	static const struct unwind_row null_call = {
		.type = UNWIND_ROW_CALL,
		.sp_base = UNWIND_BASE_SP,
		.sp_offset = WORD,
	};
	const struct unwind_row *row;

	/* In front of a return address is its call, whose row it is. */
	row = unwind_table_find(walk->table, walk->ip - !walk->signal);
	if (row)
		return row;
	if (!walk->ip && walk->signal)
		return &null_call;
	if (walk->ip < KERNEL_CODE_START)
		return NULL;
	if (unwind_table_expects_frame_pointers(walk->table))
		return follow_frame_pointer(walk);
	if (walk->bp < walk->sp || walk->bp % WORD)
		return NULL;
	walk->guessed = true;
	return &frame_pointer;
}

/* False: the walk has ended. */
static inline bool step(struct walk *walk)
{
	const struct unwind_stack *stack = walk->stack;
	const struct unwind_row *row = find_row(walk);
	uint64_t sp = walk->sp, ip = walk->ip, frame;
	bool passed;

	if (!row || row->type == UNWIND_ROW_UNDEFINED)
		return end(walk, UNWIND_NO_DATA, ip);
	if (row->type == UNWIND_ROW_END)
		return end(walk, UNWIND_COMPLETE, 0);
	if (!find_frame(walk, row, &frame))
		return false;
	if (row->type == UNWIND_ROW_CALL)
		passed = pass_call(walk, row, frame);
	else if (row->type == UNWIND_ROW_REGS)
		passed = pass_registers(walk, row, frame);
	else
		passed = pass_iret(walk, row, frame);
	if (!passed)
		return false;
	walk->signal = row->signal;
	if (walk->stack == stack && walk->sp <= sp)
		return end(walk, UNWIND_BAD, walk->sp);
	if (unwind_table_is_trampoline(walk->table, walk->ip))
		return end(walk, UNWIND_REPLACED, walk->ip);
	if (walk->ip < KERNEL_CODE_START && (walk->ip || !walk->signal))
		return end(walk, UNWIND_NO_DATA, walk->ip);
	return true;
}

/* False: the chain is full. */
static inline bool add_frame(struct walk *walk)
{
	struct unwind_chain *chain = walk->chain;

	if (chain->count == chain->capacity)
		return end(walk, UNWIND_TOO_DEEP, 0);
	chain->frames[chain->count++] = (struct unwind_frame){
		.address = walk->ip,
		.kind = walk->signal ? UNWIND_FRAME_INTERRUPT : UNWIND_FRAME_CALL,
		.guessed = walk->guessed,
	};
	return true;
}

void unwind_run(const struct unwind_table *table, const struct unwind_registers *registers,
		const struct unwind_stack *stacks, size_t stack_count, struct unwind_chain *chain)
{
	struct walk walk = {
		.table = table,
		.stacks = stacks,
		.stack_count = stack_count < UNWIND_MAX_STACKS ? stack_count : UNWIND_MAX_STACKS,
		.ip = registers->ip,
		.sp = registers->sp,
		.bp = registers->bp,
		.ax = registers->ax,
		.dx = registers->dx,
		.di = registers->di,
		.r10 = registers->r10,
		.r13 = registers->r13,
		.others_known = registers->others_known,
		.signal = !registers->ip_is_return_address,
		.chain = chain,
	};

	chain->count = 0;
	while (add_frame(&walk) && step(&walk))
		;
}
