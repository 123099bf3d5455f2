/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of a program in perf's samples (PERF_SAMPLE_REGS_USER), as a walk needs them. */
#ifndef UNWIND_SAMPLE_REGISTERS_H
#define UNWIND_SAMPLE_REGISTERS_H

#include "arch/arch.h"
#include "unwind/walk/unwind.h"

/* As they are in a sample. */
struct sample_registers_source {
	const void *words; /* 8 bytes for each bit of MASK; of any alignment, borrowed */
	uint64_t mask;     /* attr.sample_regs_user */
	uint64_t abi;      /* PERF_SAMPLE_REGS_ABI_32 or _64 */
	bool swap;         /* the words are of the other byte order */
};

struct sample_registers {
	struct unwind_registers walk; /* borrows GENERAL: must not be copied */
	uint64_t link; /* the link register, of arm64 and ppc64le */
	uint64_t general[UNWIND_GENERAL_REGISTERS]; /* of x86 */
	bool complete; /* a walk can begin; false: only IP is certain */
};

/* False: ARCH's registers are not known, or IP is not among those in SOURCE. */
bool sample_registers_read(const struct arch *arch, const struct sample_registers_source *source,
			   struct sample_registers *ret);

#endif
