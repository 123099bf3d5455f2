/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to find the caller's registers from an address on: one row of unwind data, made of a kernel's
 * ORC entries or of a program's DWARF.
 */
#ifndef UNWIND_TABLE_ROW_H
#define UNWIND_TABLE_ROW_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_row_type {
	UNWIND_ROW_UNDEFINED,    /* nothing is known of this code */
	UNWIND_ROW_END,          /* nothing called this code */
	UNWIND_ROW_CALL,         /* its return address is below the caller's SP */
	UNWIND_ROW_REGS,         /* a struct pt_regs holds the caller's registers */
	UNWIND_ROW_REGS_PARTIAL, /* what IRET takes holds some of them */
	UNWIND_ROW_SIGNAL, /* a signal's struct sigcontext does: at SP + sp_offset is its SP */
	UNWIND_ROW_TYPES,
};

/* General registers, numbered as instructions number them. */
enum unwind_register {
	UNWIND_AX,
	UNWIND_CX,
	UNWIND_DX,
	UNWIND_BX,
	UNWIND_SP,
	UNWIND_BP,
	UNWIND_SI,
	UNWIND_DI,
	UNWIND_R10 = 10,
	UNWIND_R13 = 13,
	UNWIND_GENERAL_REGISTERS = 16,
};

enum unwind_base {
	UNWIND_BASE_UNDEFINED, /* of BP: it is as in the caller, or in the struct pt_regs */
	UNWIND_BASE_PREV_SP,   /* of BP: what is at the value that SP's rule gives, + offset */
	UNWIND_BASE_SP,
	UNWIND_BASE_BP,
	/* only of BP, of programs: what is at BP if BP is in the frame, else it was popped */
	UNWIND_BASE_BP_TOP,
	UNWIND_BASE_OTHER,  /* only of programs: nothing that is known here; of BP: it is lost */
	/* Only SP has these: */
	UNWIND_BASE_BP_INDIRECT,        /* what is at BP + offset */
	UNWIND_BASE_SP_INDIRECT,        /* what is at SP, + offset */
	UNWIND_BASE_SP_OFFSET_INDIRECT, /* what is at SP + offset */
	/* And only programs' has these: */
	UNWIND_BASE_SP_WORDS,         /* SP + UNWIND_ROW_WORD * offset */
	UNWIND_BASE_SP_INDIRECT_WORD, /* what is at SP + offset, + a word of the program */
	/*
	 * SP + offset, and a word more behind the first bytes of each 16 of code: entries of a
	 * procedure linkage table. bp_offset has the number of these bytes; BP is as in the caller.
	 */
	UNWIND_BASE_SP_PLT,
	UNWIND_BASE_GENERAL, /* and what follows: enum unwind_register's + offset */
	UNWIND_BASES = UNWIND_BASE_GENERAL + UNWIND_GENERAL_REGISTERS,
};

/*
 * The caller's BX: glibc's linkage of functions at their first call (_dl_runtime_resolve) has its
 * frame there.
 */
enum unwind_bx {
	UNWIND_BX_LOST, /* or nothing is said */
	UNWIND_BX_SAME,
	UNWIND_BX_AT_PREV_SP, /* as UNWIND_BASE_PREV_SP */
	UNWIND_BX_AT_BP,
};

#define UNWIND_ROW_WORD 8

struct unwind_row {
	int16_t sp_offset, bp_offset, bx_offset;
	uint8_t sp_base : 6; /* enum unwind_base */
	uint8_t bx_base : 2; /* enum unwind_bx */
	uint8_t bp_base : 4; /* enum unwind_base, of those that BP can have */
	uint8_t type : 3;    /* enum unwind_row_type */
	/* what the row leads to was interrupted: its address is no return address */
	bool signal : 1;
};

#endif
