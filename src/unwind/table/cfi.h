/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of .eh_frame and .debug_frame: a CIE is shared by several functions, an FDE describes
 * one function; both have programs that produce its rows.
 */
#ifndef UNWIND_TABLE_CFI_H
#define UNWIND_TABLE_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "unwind/table/row.h"

#define CFI_PAGE 4096

/* Either section of a file, or the part of it that is available. */
struct cfi_section {
	const uint8_t *data; /* borrowed */
	size_t bytes;
	uint64_t address;  /* of DATA, as linked */
	bool debug_frame;  /* not .eh_frame */
	uint16_t machine;  /* EM_X86_64, EM_386, EM_AARCH64 or EM_PPC64 (little-endian) */
	size_t page_offset; /* of DATA in the first of PAGES */
	const bool *pages; /* whether each CFI_PAGE of DATA is there; NULL: all are; borrowed */
	const uint32_t *records; /* where FDEs begin, ascending, if known; borrowed */
	size_t record_count;
};

/* [offset, end) of a section. */
struct cfi_program {
	size_t offset, end;
};

struct cfi_record {
	size_t offset; /* of its length field, in the section */
	bool is_cie;
	size_t cie_offset;       /* of its CIE, for an FDE */
	struct cfi_program body; /* the program, after these fields */
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;       /* of addresses: DW_EH_PE_… */
	bool augmentation_data; /* FDEs have some, too */
	bool signal;            /* its code was entered through an interruption */
	struct cfi_program program;
};

struct cfi_fde {
	uint64_t start, end; /* of its code, as linked; end is exclusive */
	struct cfi_program program;
};

/*
 * Reads the record at *OFFSET and moves past it; false at the end of the section, and where there
 * is no valid record, or it is missing.
 */
bool cfi_next(const struct cfi_section *section, size_t *offset, struct cfi_record *ret);
/* False: malformed, or of a kind that compilers do not emit for these machines. */
bool cfi_read_cie(const struct cfi_section *section, const struct cfi_record *record,
		  struct cfi_cie *ret);
bool cfi_read_fde(const struct cfi_section *section, const struct cfi_record *record,
		  const struct cfi_cie *cie, struct cfi_fde *ret);

/*
 * For programs: an address in ENCODING, and variable-length numbers; failures set the cursor's
 * `failed`.
 */
uint64_t cfi_address(const struct cfi_section *section, struct cursor *cursor, uint8_t encoding);
uint64_t cfi_uleb(struct cursor *cursor);
int64_t cfi_sleb(struct cursor *cursor);

enum cfi_rule_kind {
	CFI_SAME, /* also if there is no rule: the same for SP, BP, BX and a link register */
	CFI_NONE,   /* explicitly undefined */
	CFI_AT_CFA, /* saved at CFA + offset */
	CFI_AT_SP,  /* saved at SP + offset */
	CFI_AT_BP,
	CFI_OTHER, /* uses other registers or expressions */
};

struct cfi_rule {
	enum cfi_rule_kind kind;
	int64_t offset;
	bool pushed; /* CFI_AT_CFA, and it was inside the frame at that time */
};

/*
 * Numbers of the registers that are tracked (DWARF numbers of the ABI), and the word size. LINK:
 * calls leave the return address in a register, which is IP and BX here; BP is the register that
 * compilers use as the frame pointer: x29, r31.
 */
struct cfi_abi {
	bool link;
	uint8_t bp, sp, ip, bx;
	uint8_t general_count;
	const uint8_t *general; /* enum unwind_register for these numbers */
	uint8_t word_bytes;
	uint8_t signal_ip; /* offset from SP to IP in a signal's struct sigcontext */
};

const struct cfi_abi *cfi_abi(const struct cfi_section *section);

struct cfi_state {
	unsigned int cfa_base; /* enum unwind_base; UNWIND_BASE_UNDEFINED: no rule */
	int64_t cfa_offset;
	bool cfa_expression; /* not a register and an offset */
	uint8_t plt_bytes;   /* for UNWIND_BASE_SP_PLT */
	struct cfi_rule bp, sp, ip, bx;
};

/* Takes the DW_OP_… expression of BYTES at CURSOR, and moves past it. */
void cfi_take_cfa(const struct cfi_abi *abi, struct cursor *cursor, uint64_t bytes,
		  struct cfi_state *state);
struct cfi_rule cfi_take_rule(const struct cfi_abi *abi, struct cursor *cursor, uint64_t bytes);
/* Brings STATE up to date at an address, once all instructions for that address have run. */
void cfi_settle(struct cfi_state *state);
/* The row for a state; SIGNAL: its function was entered through an interruption. */
struct unwind_row cfi_row(const struct cfi_abi *abi, const struct cfi_state *state, bool signal);

/* The state at the beginning of CIE's functions; false: its program is malformed. */
bool cfi_initial_state(const struct cfi_section *section, const struct cfi_cie *cie,
		       struct cfi_state *ret);
/*
 * Calls ADD for each row of FDE in ascending order of addresses, which are inside the FDE; the
 * first is its start. Rows that cannot be determined are UNWIND_ROW_UNDEFINED, up to the FDE's end
 * if its program is malformed.
 */
void cfi_make_rows(const struct cfi_section *section, const struct cfi_cie *cie,
		   const struct cfi_state *initial, const struct cfi_fde *fde,
		   void (*add)(void *context, uint64_t address, const struct unwind_row *row),
		   void *context);

#endif
