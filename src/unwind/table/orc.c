/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct orc_entry: s16 sp_offset, s16 bp_offset, then 16 bits, lowest first:
 *
 * 	4.14	sp_reg:4 bp_reg:4 type:2 end:1 (`end` since 4.18)
 * 	6.3	sp_reg:4 bp_reg:4 type:2 signal:1 end:1
 * 	6.4	sp_reg:4 bp_reg:4 type:3 signal:1
 *
 * Until 6.3, types are 0 call, 1 regs, 2 partial regs; sp_reg 0 means that nothing is known, or
 * with `end` that the stack ends. Since 6.4 they are 0 undefined, 1 end of stack, 2 call, 3 regs, 4
 * partial. Until 4.17 the end of a stack cannot be told from unknown code.
 *
 * Some release between 6.12 and 7.2 renumbered the registers, which BTF does not show. AX, which
 * was added just before that, was also added to the old numbers in stable kernels.
 *
 * ORC_REG_SP_INDIRECT was *(SP + offset) as long as it only came from the entry code's hints for
 * registers; since objtool emits it for calls that switch stacks (aafeb14e9da2, 5.12), it is *(SP)
 * + offset. The row's type shows which.
 *
 * Source: arch/x86/include/asm/orc_types.h and arch/x86/kernel/unwind_orc.c of these releases.
 */
#include "unwind/table/orc.h"

#include <string.h>

#define OLD_TYPES 3
#define NEW_TYPES 5
#define REGISTER_NUMBERS 11
#define MIN_ENTRIES_TO_TELL 64

enum {
	BASE_AX = UNWIND_BASE_GENERAL + UNWIND_AX,
	BASE_DX = UNWIND_BASE_GENERAL + UNWIND_DX,
	BASE_DI = UNWIND_BASE_GENERAL + UNWIND_DI,
	BASE_R10 = UNWIND_BASE_GENERAL + UNWIND_R10,
	BASE_R13 = UNWIND_BASE_GENERAL + UNWIND_R13,
};

static const uint8_t old_numbers[REGISTER_NUMBERS] = {
	UNWIND_BASE_UNDEFINED,   UNWIND_BASE_PREV_SP,     BASE_DX,  BASE_DI,
	UNWIND_BASE_BP,          UNWIND_BASE_SP,          BASE_R10, BASE_R13,
	UNWIND_BASE_BP_INDIRECT, UNWIND_BASE_SP_INDIRECT, BASE_AX,
};
static const uint8_t new_numbers[REGISTER_NUMBERS] = {
	UNWIND_BASE_UNDEFINED, BASE_AX, BASE_DX,  UNWIND_BASE_SP, UNWIND_BASE_BP,
	BASE_DI,               BASE_R10, BASE_R13, UNWIND_BASE_PREV_SP, UNWIND_BASE_SP_INDIRECT,
	UNWIND_BASE_BP_INDIRECT,
};

static bool is_old(enum orc_form form)
{
	return form == ORC_FORM_END || form == ORC_FORM_SIGNAL_END;
}

/* Decodes the third word, into the types of 6.4; false: no kernel has such a value. */
static bool split_old(uint16_t bits, bool signal_bit, struct unwind_row *row)
{
	unsigned int type = bits >> 8 & 3;
	bool end = bits >> (signal_bit ? 11 : 10) & 1;

	row->signal = signal_bit ? bits >> 10 & 1 : type != 0;
	row->type = type + UNWIND_ROW_CALL;
	if (!(bits & 15)) {
		row->type = end ? UNWIND_ROW_END : UNWIND_ROW_UNDEFINED;
		end = false;
	}
	return type < OLD_TYPES && !end && !(bits >> (signal_bit ? 12 : 11));
}

static bool split_new(uint16_t bits, struct unwind_row *row)
{
	row->type = bits >> 8 & 7;
	row->signal = bits >> 11 & 1;
	return row->type < NEW_TYPES && !(bits >> 12);
}

static bool find_bases(enum orc_form form, uint16_t bits, struct unwind_row *row)
{
	const uint8_t *numbers = form == ORC_FORM_RENUMBERED ? new_numbers : old_numbers;
	unsigned int sp_reg = bits & 15, bp_reg = bits >> 4 & 15;

	if (sp_reg >= REGISTER_NUMBERS || bp_reg >= REGISTER_NUMBERS)
		return false;
	row->sp_base = numbers[sp_reg];
	row->bp_base = numbers[bp_reg];
	if (row->sp_base == UNWIND_BASE_SP_INDIRECT && row->type != UNWIND_ROW_CALL)
		row->sp_base = UNWIND_BASE_SP_OFFSET_INDIRECT;
	return row->sp_base != UNWIND_BASE_UNDEFINED && row->sp_base != UNWIND_BASE_PREV_SP &&
	       (row->bp_base == UNWIND_BASE_UNDEFINED || row->bp_base == UNWIND_BASE_PREV_SP ||
		row->bp_base == UNWIND_BASE_BP);
}

bool orc_decode(enum orc_form form, const uint8_t *entry, struct unwind_row *ret)
{
	struct unwind_row row = { 0 };
	uint16_t bits;

	memcpy(&bits, entry + 4, sizeof(bits));
	if (!(is_old(form) ? split_old(bits, form == ORC_FORM_SIGNAL_END, &row)
			   : split_new(bits, &row)))
		return false;
	if (row.type == UNWIND_ROW_UNDEFINED || row.type == UNWIND_ROW_END) {
		*ret = (struct unwind_row){ .type = row.type };
		return true;
	}
	memcpy(&row.sp_offset, entry, sizeof(row.sp_offset));
	memcpy(&row.bp_offset, entry + 2, sizeof(row.bp_offset));
	if (!find_bases(form, bits, &row))
		return false;
	*ret = row;
	return true;
}

/* Checks the fields of struct orc_entry. */
static bool types_allow(const struct guest_btf *btf, enum orc_form form)
{
	struct guest_btf_field field;
	bool signal = guest_btf_find_field(btf, "orc_entry", "signal", &field);
	bool end = guest_btf_find_field(btf, "orc_entry", "end", &field);

	if (!guest_btf_find_field(btf, "orc_entry", "sp_reg", &field))
		return false;
	return signal == (form != ORC_FORM_END) && (end || !is_old(form)) && (!end || is_old(form));
}

/*
 * Whether a kernel's entries make sense in FORM: all are valid, most are calls relative to SP, and
 * interrupted code is distinguished from called code.
 */
static bool entries_allow(const uint8_t *entries, size_t count, enum orc_form form)
{
	size_t calls = 0, registers = 0, signals = 0;

	for (size_t i = 0; i < count; i++) {
		struct unwind_row row;

		if (!orc_decode(form, entries + i * ORC_ENTRY_BYTES, &row) ||
		    (row.type == UNWIND_ROW_CALL && row.signal))
			return false;
		calls += row.type == UNWIND_ROW_CALL && row.sp_base == UNWIND_BASE_SP;
		registers += row.type >= UNWIND_ROW_REGS;
		signals += row.signal;
	}
	return calls > count / 2 && (!registers || signals);
}

bool orc_find_form(const struct guest_btf *btf, const uint8_t *entries, size_t count,
		   enum orc_form *ret)
{
	enum orc_form found = ORC_FORMS;

	if (count < MIN_ENTRIES_TO_TELL)
		return false;
	for (enum orc_form form = 0; form < ORC_FORMS; form++) {
		if ((btf && !types_allow(btf, form)) || !entries_allow(entries, count, form))
			continue;
		if (found != ORC_FORMS)
			return false;
		found = form;
	}
	if (found == ORC_FORMS)
		return false;
	*ret = found;
	return true;
}
