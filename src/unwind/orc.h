/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ORC, the unwind data of x86-64 Linux kernels: rows that say, from an address on, how to find the
 * caller's registers. Its forms since 4.14, made into one.
 */
#ifndef UNWIND_ORC_H
#define UNWIND_ORC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/guest_btf.h"

#define ORC_ENTRY_BYTES 6
#define ORC_IP_BYTES 4 /* an offset from its own place */

enum orc_form {
	ORC_FORM_END,        /* 4.14: types from 0 on; since 4.18 a bit for ends of stacks */
	ORC_FORM_SIGNAL_END, /* 6.3: `signal` in front of that bit */
	ORC_FORM_SIGNAL,     /* 6.4: ends are types of their own */
	ORC_FORM_RENUMBERED, /* seen in 7.2: the same with other numbers for registers */
	ORC_FORMS,
};

enum unwind_row_type {
	UNWIND_ROW_UNDEFINED,    /* nothing is known of this code */
	UNWIND_ROW_END,          /* nothing called this code */
	UNWIND_ROW_CALL,         /* its return address is below the caller's SP */
	UNWIND_ROW_REGS,         /* a struct pt_regs holds the caller's registers */
	UNWIND_ROW_REGS_PARTIAL, /* what IRET takes holds some of them */
};

enum unwind_base {
	UNWIND_BASE_UNDEFINED, /* of BP: it is as in the caller, or in the struct pt_regs */
	UNWIND_BASE_PREV_SP,   /* of BP: the value that SP's rule gives */
	UNWIND_BASE_SP,
	UNWIND_BASE_BP,
	UNWIND_BASE_AX,
	UNWIND_BASE_DX,
	UNWIND_BASE_DI,
	UNWIND_BASE_R10,
	UNWIND_BASE_R13,
	UNWIND_BASE_BP_INDIRECT,        /* what is at BP + offset */
	UNWIND_BASE_SP_INDIRECT,        /* what is at SP, + offset */
	UNWIND_BASE_SP_OFFSET_INDIRECT, /* what is at SP + offset */
};

struct unwind_row {
	int16_t sp_offset, bp_offset;
	uint8_t sp_base, bp_base; /* enum unwind_base */
	uint8_t type;             /* enum unwind_row_type */
	bool signal; /* what the row leads to was interrupted: its address is no return address */
};

/*
 * The form of a whole kernel's COUNT entries, by the kernel's types and by the entries themselves; BTF
 * may be NULL. False: they are valid in none, or in several.
 */
bool orc_find_form(const struct guest_btf *btf, const uint8_t *entries, size_t count,
		   enum orc_form *ret);
/* False: no kernel has such an entry. */
bool orc_decode(enum orc_form form, const uint8_t *entry, struct unwind_row *ret);

#endif
