/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions in the forms that are used for x86-64, and the rows made from states. SP is breg7
 * there, BP breg6 and IP breg16; on i386 they are breg4, breg5 and breg8, and a word is 4 bytes
 * (lit2). CFA is one of
 *
 * 	breg7|breg6 N, deref			frames with an alignment of their own (GCC)
 * 	breg7 N, deref, plus_uconst 8		OpenSSL's assembly
 * 	breg7 N, breg16 0, lit15, and, litM, ge, lit3, shl, plus
 * 						linkage tables (binutils, bfd/elfxx-x86.c): 8
 * 						more bytes are pushed after the first M of each
 * 						16 of code
 *
 * and a register is at breg7|breg6 N. In a signal's frame, CFA is SP, which is at SP + N, followed
 * by IP (glibc, sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c; Linux,
 * arch/x86/entry/vdso/vdso32/sigreturn.S); or CFA is the struct sigcontext that contains them (the
 * same since 7.0).
 */
#include "base/dwarf.h"
#include "unwind/table/cfi.h"

static bool fits(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

/* breg7 N or breg6 N. */
static bool take_place(const struct cfi_abi *abi, struct cursor *cursor, struct cfi_rule *ret)
{
	uint8_t register_number = cursor_u8(cursor) - DW_OP_breg0;

	*ret = (struct cfi_rule){ .kind = register_number == abi->sp ? CFI_AT_SP : CFI_AT_BP,
				  .offset = cfi_sleb(cursor) };
	return !cursor->failed && (register_number == abi->sp || register_number == abi->bp);
}

/* The next BYTES of CURSOR, as a cursor of their own; moves past them. */
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

static bool is_indirect(const struct cfi_abi *abi, struct cursor block, bool bp, unsigned int *ret)
{
	if (cursor_u8(&block) != DW_OP_deref)
		return false;
	*ret = bp ? UNWIND_BASE_BP_INDIRECT : UNWIND_BASE_SP_OFFSET_INDIRECT;
	if (at_end(&block))
		return true;
	*ret = UNWIND_BASE_SP_INDIRECT_WORD;
	return !bp && cursor_u8(&block) == DW_OP_plus_uconst &&
	       cfi_uleb(&block) == abi->word_bytes && at_end(&block);
}

void cfi_take_cfa(const struct cfi_abi *abi, struct cursor *cursor, uint64_t bytes,
		  struct cfi_state *state)
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

/* A register's slot is not below SP, as far as is known. */
static bool is_inside(const struct cfi_state *state, const struct cfi_rule *rule)
{
	int64_t from_sp;

	return state->cfa_base != UNWIND_BASE_SP ||
	       (!__builtin_add_overflow(state->cfa_offset, rule->offset, &from_sp) && from_sp >= 0);
}

static void settle(const struct cfi_state *state, struct cfi_rule *rule)
{
	if (rule->kind == CFI_AT_CFA && is_inside(state, rule))
		rule->pushed = true;
}

void cfi_settle(struct cfi_state *state)
{
	settle(state, &state->bp);
	settle(state, &state->bx);
}

/*
 * It was pushed, and has been popped by now, which compilers do not describe: its slot is below SP,
 * where nothing was copied, or a frame with an alignment of its own was left.
 */
static bool was_popped(const struct cfi_state *state, const struct cfi_rule *rule)
{
	return (rule->kind == CFI_AT_CFA && rule->pushed && !is_inside(state, rule)) ||
	       (rule->kind == CFI_AT_BP && state->cfa_base == UNWIND_BASE_SP);
}

/* A register's slot relative to SP; false: it is somewhere else. */
static bool find_from_sp(const struct cfi_state *state, const struct cfi_rule *rule, int16_t *ret)
{
	int64_t offset = rule->offset;

	if (rule->kind == CFI_AT_CFA && state->cfa_base == UNWIND_BASE_SP && fits(offset) &&
	    fits(state->cfa_offset))
		offset += state->cfa_offset;
	else if (rule->kind != CFI_AT_SP)
		return false;
	*ret = offset;
	return fits(offset);
}

/* A signal's frame; false: its form is unknown. */
static bool take_signal(const struct cfi_abi *abi, const struct cfi_state *state,
			struct unwind_row *row)
{
	const struct cfi_rule cfa = { .kind = CFI_AT_SP, .offset = state->cfa_offset };
	bool at_cfa = state->cfa_base == UNWIND_BASE_SP_OFFSET_INDIRECT;
	int16_t sp, ip, bp;

	if (!find_from_sp(state, at_cfa ? &cfa : &state->sp, &sp) ||
	    !find_from_sp(state, &state->ip, &ip) || !find_from_sp(state, &state->bp, &bp) ||
	    ip - sp != abi->signal_ip)
		return false;
	if (at_cfa && state->sp.kind != CFI_SAME &&
	    (state->sp.kind != CFI_AT_SP || state->sp.offset != state->cfa_offset))
		return false;
	row->type = UNWIND_ROW_SIGNAL;
	row->sp_base = UNWIND_BASE_SP_OFFSET_INDIRECT;
	row->sp_offset = sp;
	row->bp_base = UNWIND_BASE_SP;
	row->bp_offset = bp;
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
	if (was_popped(state, &state->bp))
		row->bp_base = UNWIND_BASE_UNDEFINED;
	else if (!fits(state->bp.offset))
		row->bp_base = UNWIND_BASE_OTHER;
	else if (state->bp.kind == CFI_AT_BP && state->cfa_base >= UNWIND_BASE_GENERAL)
		row->bp_base = state->bp.offset ? UNWIND_BASE_OTHER : UNWIND_BASE_BP_TOP;
	if (row->bp_base == UNWIND_BASE_PREV_SP || row->bp_base == UNWIND_BASE_BP)
		row->bp_offset = state->bp.offset;
}

static void take_bx(const struct cfi_state *state, struct unwind_row *row)
{
	static const uint8_t bases[] = {
		[CFI_SAME] = UNWIND_BX_SAME,           [CFI_NONE] = UNWIND_BX_LOST,
		[CFI_AT_CFA] = UNWIND_BX_AT_PREV_SP,   [CFI_AT_SP] = UNWIND_BX_LOST,
		[CFI_AT_BP] = UNWIND_BX_AT_BP,         [CFI_OTHER] = UNWIND_BX_LOST,
	};
	const struct cfi_rule *bx = &state->bx;

	row->bx_base = bases[bx->kind];
	if (was_popped(state, bx))
		row->bx_base = UNWIND_BX_SAME;
	/*
	 * Nothing below SP was copied. While a frame with an alignment of its own is being left, BX
	 * may have been popped already.
	 */
	else if (!fits(bx->offset) || (bx->kind == CFI_AT_CFA && !is_inside(state, bx)) ||
		 (bx->kind == CFI_AT_BP && state->cfa_base >= UNWIND_BASE_GENERAL))
		row->bx_base = UNWIND_BX_LOST;
	if (row->bx_base == UNWIND_BX_AT_PREV_SP || row->bx_base == UNWIND_BX_AT_BP)
		row->bx_offset = bx->offset;
}

/* The return address is in the link register, or was saved. */
static struct unwind_row link_row(const struct cfi_state *state, bool signal)
{
	static const struct unwind_row undefined = { .type = UNWIND_ROW_UNDEFINED };
	const struct cfi_rule *link = &state->ip;
	struct unwind_row row = { .type = UNWIND_ROW_CALL };

	if (signal || !take_sp(state, &row))
		return undefined;
	take_bp(state, &row);
	row.bx_base = link->kind == CFI_SAME	? UNWIND_BX_SAME
		      : link->kind == CFI_AT_CFA ? UNWIND_BX_AT_PREV_SP
						 : UNWIND_BX_LOST;
	if (!fits(link->offset))
		row.bx_base = UNWIND_BX_LOST;
	if (row.bx_base == UNWIND_BX_AT_PREV_SP)
		row.bx_offset = link->offset;
	return row;
}

struct unwind_row cfi_row(const struct cfi_abi *abi, const struct cfi_state *state, bool signal)
{
	static const struct unwind_row undefined = { .type = UNWIND_ROW_UNDEFINED };
	struct unwind_row row = { .signal = signal };

	if (state->ip.kind == CFI_NONE)
		return (struct unwind_row){ .type = UNWIND_ROW_END };
	if (abi->link)
		return link_row(state, signal);
	if (signal && take_signal(abi, state, &row))
		return row;
	if (state->ip.kind != CFI_AT_CFA && state->ip.kind != CFI_OTHER)
		return undefined;
	row.type = UNWIND_ROW_CALL;
	if (!take_sp(state, &row))
		return undefined;
	take_bp(state, &row);
	take_bx(state, &row);
	/*
	 * If it is not just below CFA, it is in a register, or was moved by one of the few
	 * functions that never return.
	 */
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
