/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions' code that a recording has of its guests: as it was in their memory, that of a kernel
 * with what the kernel has patched into it. It is used for the same guest only.
 */
#ifndef SESSION_CODE_RECORDED_CODE_H
#define SESSION_CODE_RECORDED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/machine.h"
#include "symbol/table.h"

struct session;

/* Code from the function's start on, perhaps not all of it. */
struct recorded_code {
	uint16_t machine; /* EM_* of elf.h */
	bool big_endian;
	const uint8_t *bytes; /* the session's */
	uint64_t size;	      /* not 0 */
};

/* Of SYMBOL in TABLE, of MACHINE's KERNEL (or MACHINE_NO_KERNEL). False: it is not recorded. */
bool recorded_code_of_kernel(struct session *session, struct machine *machine, uint32_t kernel,
			     const struct symbol_table *table, const struct symbol *symbol,
			     struct recorded_code *ret);
/* Of SYMBOL, by file offset, in ENTRY, a guest's file. */
bool recorded_code_of_file(struct session *session, const struct dso_entry *entry,
			   const struct symbol *symbol, struct recorded_code *ret);

#endif
