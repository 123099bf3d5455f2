/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row of unwind data, made from a kernel's ORC entries or a program's DWARF: the rule for
 * finding the caller's registers, from an address on.
 */
#ifndef UNWIND_TABLE_ROW_H
#define UNWIND_TABLE_ROW_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_row_type {
	UNWIND_ROW_UNDEFINED,    /* this code is unknown */
	UNWIND_ROW_END,          /* nothing called this code */
	UNWIND_ROW_CALL,         /* its return address is just below the caller's SP */
	UNWIND_ROW_REGS,         /* a struct pt_regs holds the caller's registers */
	UNWIND_ROW_REGS_PARTIAL, /* the IRET frame has some of them */
	UNWIND_ROW_SIGNAL, /* a signal's struct sigcontext has them: its SP is at SP + sp_offset */
	UNWIND_ROW_TYPES,
};

/* General registers, by their number in instructions. */
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
	UNWIND_BASE_UNDEFINED, /* for BP: same as the caller's, or in the struct pt_regs */
	UNWIND_BASE_PREV_SP,   /* for BP: saved at the value that SP's rule gives, + offset */
	UNWIND_BASE_SP,
	UNWIND_BASE_BP,
	/* only BP, in programs: saved at BP if BP is in the frame, else already popped */
	UNWIND_BASE_BP_TOP,
	UNWIND_BASE_OTHER,  /* only in programs: a rule not known here; for BP: it is lost */
	/* Only for SP: */
	UNWIND_BASE_BP_INDIRECT,        /* word at BP + offset */
	UNWIND_BASE_SP_INDIRECT,        /* word at SP, + offset */
	UNWIND_BASE_SP_OFFSET_INDIRECT, /* word at SP + offset */
	/* Only for SP, in programs: */
	UNWIND_BASE_SP_WORDS,         /* SP + UNWIND_ROW_WORD * offset */
	UNWIND_BASE_SP_INDIRECT_WORD, /* word at SP + offset, + a word of the program */
	/*
	 * SP + offset, and one more word after the first bytes of each 16 of code: entries of a
	 * procedure linkage table. bp_offset has the number of these bytes; BP is the caller's.
	 */
	UNWIND_BASE_SP_PLT,
	UNWIND_BASE_GENERAL, /* and those after it: value of enum unwind_register + offset */
	UNWIND_BASES = UNWIND_BASE_GENERAL + UNWIND_GENERAL_REGISTERS,
};

/*
 * The caller's BX: glibc's lazy binding of functions at their first call (_dl_runtime_resolve) uses
 * it as frame pointer.
 */
/* Of arm64 and ppc64le: the return address; the same is in the link register. */
enum unwind_bx {
	UNWIND_BX_LOST, /* or there is no rule */
	UNWIND_BX_SAME,
	UNWIND_BX_AT_PREV_SP, /* like UNWIND_BASE_PREV_SP */
	UNWIND_BX_AT_BP,
};

#define UNWIND_ROW_WORD 8

struct unwind_row {
	int16_t sp_offset, bp_offset, bx_offset;
	uint8_t sp_base : 6; /* enum unwind_base */
	uint8_t bx_base : 2; /* enum unwind_bx */
	uint8_t bp_base : 4; /* enum unwind_base, one of those for BP */
	uint8_t type : 3;    /* enum unwind_row_type */
	/* the caller was interrupted: its address is not a return address */
	bool signal : 1;
};

#endif
