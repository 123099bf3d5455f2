/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions of the forms that are made for x86-64, and rows of states. SP is breg7 there, BP breg6 and IP breg16; on
 * i386 they are breg4, breg5 and breg8, and a word is 4 bytes (lit2). CFA is one of
 *
 *	breg7|breg6 N, deref			frames with an alignment of their own (GCC)
 *	breg7 N, deref, plus_uconst 8		OpenSSL's assembly
 *	breg7 N, breg16 0, lit15, and, litM, ge, lit3, shl, plus
 *						linkage tables (binutils, bfd/elfxx-x86.c): 8 bytes more
 *						are pushed behind the first M of each 16 of code
 *
 * and a register is at breg7|breg6 N. A signal's frame has CFA, which is SP, at SP + N and IP behind it
 * (glibc, sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c). Signals' frames of i386 are not known.
 */
#include <dwarf.h>

#include "unwind/cfi.h"

static bool fits(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

/* breg7 N or breg6 N. */
static bool take_place(const struct cfi_abi *abi, struct cursor *cursor, struct cfi_rule *ret)
{
	uint8_t register_number = cursor_u8(cursor) - DW_OP_breg0;

	*ret = (struct cfi_rule){ register_number == abi->sp ? CFI_AT_SP : CFI_AT_BP, cfi_sleb(cursor) };
	return !cursor->failed && (register_number == abi->sp || register_number == abi->bp);
}

/* BYTES of CURSOR, which passes them, as a cursor of their own. */
static struct cursor take_block(struct cursor *cursor, uint64_t bytes)
{
	const void *data = cursor_bytes(cursor, bytes);

	return cursor_make(data, data ? bytes : 0, false);
}

static bool at_end(const struct cursor *cursor)
{
	return !cursor->failed && !cursor_left(cursor);
}

struct cfi_rule cfi_take_rule(const struct cfi_abi *abi, struct cursor *cursor, uint64_t bytes)
{
	struct cursor block = take_block(cursor, bytes);
	struct cfi_rule rule;

	if (take_place(abi, &block, &rule) && at_end(&block))
		return rule;
	return (struct cfi_rule){ .kind = CFI_OTHER };
}

static bool is_plt(const struct cfi_abi *abi, struct cursor *cursor, uint8_t *ret_bytes)
{
	const uint8_t begin[] = { DW_OP_breg0 + abi->ip, 0, DW_OP_lit15, DW_OP_and };
	const uint8_t word = abi->word_bytes == 8 ? DW_OP_lit3 : DW_OP_lit2;
	const uint8_t end[] = { DW_OP_ge, word, DW_OP_shl, DW_OP_plus };
	const uint8_t *data = cursor_bytes(cursor, sizeof(begin) + 1 + sizeof(end));
	uint8_t bytes = data ? data[sizeof(begin)] - DW_OP_lit0 : 0;

	*ret_bytes = bytes;
	return data && at_end(cursor) && !memcmp(data, begin, sizeof(begin)) && bytes < 16 &&
	       !memcmp(data + sizeof(begin) + 1, end, sizeof(end));
}

static bool is_indirect(const struct cfi_abi *abi, struct cursor block, bool bp, enum unwind_base *ret)
{
	if (cursor_u8(&block) != DW_OP_deref)
		return false;
	*ret = bp ? UNWIND_BASE_BP_INDIRECT : UNWIND_BASE_SP_OFFSET_INDIRECT;
	if (at_end(&block))
		return true;
	*ret = UNWIND_BASE_SP_INDIRECT_WORD;
	return !bp && cursor_u8(&block) == DW_OP_plus_uconst && cfi_uleb(&block) == abi->word_bytes &&
	       at_end(&block);
}

void cfi_take_cfa(const struct cfi_abi *abi, struct cursor *cursor, uint64_t bytes, struct cfi_state *state)
{
	struct cursor block = take_block(cursor, bytes);
	struct cfi_rule place;

	state->cfa_expression = true;
	state->cfa_base = UNWIND_BASE_OTHER;
	state->cfa_offset = 0;
	if (!take_place(abi, &block, &place))
		return;
	state->cfa_offset = place.offset;
	if (is_indirect(abi, block, place.kind == CFI_AT_BP, &state->cfa_base))
		return;
	state->cfa_base = place.kind == CFI_AT_SP && is_plt(abi, &block, &state->plt_bytes)
				  ? UNWIND_BASE_SP_PLT
				  : UNWIND_BASE_OTHER;
}

/* BP's place is not below SP, as far as can be told. */
static bool bp_is_inside(const struct cfi_state *state)
{
	return state->cfa_base != UNWIND_BASE_SP || -state->bp.offset <= state->cfa_offset;
}

void cfi_settle(struct cfi_state *state)
{
	if (state->bp.kind == CFI_AT_CFA && bp_is_inside(state))
		state->bp_pushed = true;
}

/* A signal's frame; false: of no known form. */
static bool take_signal(const struct cfi_abi *abi, const struct cfi_state *state, struct unwind_row *row)
{
	if (abi->word_bytes != UNWIND_ROW_WORD ||
	    state->cfa_base != UNWIND_BASE_SP_OFFSET_INDIRECT || state->ip.kind != CFI_AT_SP ||
	    state->ip.offset != state->cfa_offset + UNWIND_ROW_WORD || state->bp.kind != CFI_AT_SP ||
	    (state->sp.kind != CFI_SAME &&
	     (state->sp.kind != CFI_AT_SP || state->sp.offset != state->cfa_offset)) ||
	    !fits(state->cfa_offset) || !fits(state->bp.offset))
		return false;
	row->type = UNWIND_ROW_SIGNAL;
	row->sp_base = UNWIND_BASE_SP_OFFSET_INDIRECT;
	row->sp_offset = state->cfa_offset;
	row->bp_base = UNWIND_BASE_SP;
	row->bp_offset = state->bp.offset;
	return true;
}

/* False: it does not fit into a row. */
static bool take_sp(const struct cfi_state *state, struct unwind_row *row)
{
	int64_t offset = state->cfa_offset;

	row->sp_base = state->cfa_base;
	if (row->sp_base == UNWIND_BASE_SP && !fits(offset) && offset % UNWIND_ROW_WORD == 0) {
		row->sp_base = UNWIND_BASE_SP_WORDS;
		offset /= UNWIND_ROW_WORD;
	}
	if (row->sp_base == UNWIND_BASE_R10 && offset)
		row->sp_base = UNWIND_BASE_OTHER;
	if (row->sp_base != UNWIND_BASE_OTHER)
		row->sp_offset = offset;
	return row->sp_base != UNWIND_BASE_UNDEFINED &&
	       (fits(offset) || row->sp_base == UNWIND_BASE_OTHER);
}

static void take_bp(const struct cfi_state *state, struct unwind_row *row)
{
	static const uint8_t bases[] = {
		[CFI_SAME] = UNWIND_BASE_UNDEFINED, [CFI_NONE] = UNWIND_BASE_OTHER,
		[CFI_AT_CFA] = UNWIND_BASE_PREV_SP, [CFI_AT_SP] = UNWIND_BASE_OTHER,
		[CFI_AT_BP] = UNWIND_BASE_BP,       [CFI_OTHER] = UNWIND_BASE_OTHER,
	};

	row->bp_base = bases[state->bp.kind];
	/*
	 * It was pushed, and popped by now, which compilers do not say: its place is below SP, where
	 * nothing was copied, or a frame with an alignment of its own was left.
	 */
	if ((state->bp.kind == CFI_AT_CFA && state->bp_pushed && !bp_is_inside(state)) ||
	    (state->bp.kind == CFI_AT_BP && state->cfa_base == UNWIND_BASE_SP))
		row->bp_base = UNWIND_BASE_UNDEFINED;
	else if (!fits(state->bp.offset))
		row->bp_base = UNWIND_BASE_OTHER;
	else if (state->bp.kind == CFI_AT_BP && state->cfa_base == UNWIND_BASE_R10)
		row->bp_base = state->bp.offset ? UNWIND_BASE_OTHER : UNWIND_BASE_BP_TOP;
	if (row->bp_base == UNWIND_BASE_PREV_SP || row->bp_base == UNWIND_BASE_BP)
		row->bp_offset = state->bp.offset;
}

struct unwind_row cfi_row(const struct cfi_abi *abi, const struct cfi_state *state, bool signal)
{
	static const struct unwind_row undefined = { .type = UNWIND_ROW_UNDEFINED };
	struct unwind_row row = { .signal = signal };

	if (state->ip.kind == CFI_NONE)
		return (struct unwind_row){ .type = UNWIND_ROW_END };
	if (signal && take_signal(abi, state, &row))
		return row;
	if (state->ip.kind != CFI_AT_CFA && state->ip.kind != CFI_OTHER)
		return undefined;
	row.type = UNWIND_ROW_CALL;
	if (!take_sp(state, &row))
		return undefined;
	take_bp(state, &row);
	/* What is not below CFA is in a register, or was moved by a few functions that never return. */
	if (state->ip.kind != CFI_AT_CFA || state->ip.offset != -(int)abi->word_bytes ||
	    state->sp.kind != CFI_SAME) {
		row.sp_base = UNWIND_BASE_OTHER;
		row.sp_offset = 0;
	}
	if (row.sp_base == UNWIND_BASE_SP_PLT) {
		if (row.bp_base != UNWIND_BASE_UNDEFINED)
			return undefined;
		row.bp_offset = state->plt_bytes;
	}
	return row;
}
