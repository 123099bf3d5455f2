/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to find the caller's registers from an address on: one row of unwind data, made of a kernel's
 * ORC entries or of a program's DWARF.
 */
#ifndef UNWIND_ROW_H
#define UNWIND_ROW_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_row_type {
	UNWIND_ROW_UNDEFINED,    /* nothing is known of this code */
	UNWIND_ROW_END,          /* nothing called this code */
	UNWIND_ROW_CALL,         /* its return address is below the caller's SP */
	UNWIND_ROW_REGS,         /* a struct pt_regs holds the caller's registers */
	UNWIND_ROW_REGS_PARTIAL, /* what IRET takes holds some of them */
	UNWIND_ROW_SIGNAL, /* a signal's struct sigcontext does: its SP, and its IP behind that */
	UNWIND_ROW_TYPES,
};

enum unwind_base {
	UNWIND_BASE_UNDEFINED, /* of BP: it is as in the caller, or in the struct pt_regs */
	UNWIND_BASE_PREV_SP,   /* of BP: what is at the value that SP's rule gives, + offset */
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
	/* Only programs have these: */
	UNWIND_BASE_BP_TOP,           /* of BP: what is at BP if SP is there, else it was popped */
	UNWIND_BASE_OTHER,            /* a register that is not followed; of BP: it is lost */
	UNWIND_BASE_SP_WORDS,         /* SP + UNWIND_ROW_WORD * offset */
	UNWIND_BASE_SP_INDIRECT_WORD, /* what is at SP + offset, + a word of the program */
	/*
	 * SP + offset, and a word more behind the first bytes of each 16 of code: entries of a procedure
	 * linkage table. bp_offset has the number of these bytes; BP is as in the caller.
	 */
	UNWIND_BASE_SP_PLT,
	UNWIND_BASES,
};

#define UNWIND_ROW_WORD 8

struct unwind_row {
	int16_t sp_offset, bp_offset;
	uint8_t sp_base, bp_base; /* enum unwind_base */
	uint8_t type;             /* enum unwind_row_type */
	bool signal; /* what the row leads to was interrupted: its address is no return address */
};

#endif
