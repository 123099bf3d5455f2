/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A Linux kernel's own symbol table, found in its read-only data and decoded.
 *
 * The tables are recognised by their shape alone; no symbol, version or VMCOREINFO is needed. All
 * formats since Linux 4.6 (scripts/kallsyms.c) are supported:
 *   - addresses stored as they are; as offsets from a base, signed with absolute per-CPU symbols or
 *     unsigned; as offsets from each offset's own position (a081b5789255, 2026)
 *   - addresses before the names (until 6.3), or after the tokens (6.4)
 *   - markers of 4 and of 8 bytes (until 4.20); symbol lengths of one and of two bytes (6.1)
 *   - sequence numbers of names between markers and tokens (6.2, 6.3), or at the end, or missing
 */
#ifndef GUEST_KERNEL_KALLSYMS_H
#define GUEST_KERNEL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

/* Bytes of guest memory, with their address. */
struct guest_block {
	const uint8_t *data; /* borrowed */
	size_t size;
	struct gva start;
};

#define GUEST_KALLSYMS_INDEX_BYTES 512 /* for the 256 tokens */
#define GUEST_KALLSYMS_NAME_MAX 512 /* KSYM_NAME_LEN since 6.1; 128 before */

struct guest_kallsyms {
	struct guest_block block;
	uint32_t count;
	unsigned int alignment; /* of each table: 8, or 4 */
	size_t names, token_table, token_index; /* offsets into the block */
	size_t addresses;			/* likewise */
	uint64_t relative_base;
	enum guest_kallsyms_form {
		GUEST_KALLSYMS_ABSOLUTE,
		GUEST_KALLSYMS_BASE_PERCPU,   /* negative: down from base - 1; else absolute */
		GUEST_KALLSYMS_BASE_UNSIGNED, /* base + offset */
		GUEST_KALLSYMS_PLACE,	      /* own address + offset */
	} form;
};

/*
 * Looks for the tables in BLOCK, which holds (at least) the kernel's read-only data. The kernel
 * image spans [IMAGE_START, IMAGE_END), and most symbols must lie there. False if there are none.
 */
bool guest_kallsyms_find(const struct guest_block *block, struct gva image_start,
			 struct gva image_end, struct guest_kallsyms *ret);

/* Bytes per symbol in the address table. */
static inline unsigned int guest_kallsyms_address_bytes(const struct guest_kallsyms *kallsyms)
{
	return kallsyms->form == GUEST_KALLSYMS_ABSOLUTE ? 8 : 4;
}

struct guest_kallsyms_symbol {
	struct gva address;
	char type; /* as printed by nm */
	char name[GUEST_KALLSYMS_NAME_MAX];
};

/* Iterates over all symbols in the order of /proc/kallsyms. */
struct guest_kallsyms_iterator {
	const struct guest_kallsyms *kallsyms;
	uint32_t index;
	size_t at; /* of the next name */
};

static inline struct guest_kallsyms_iterator
guest_kallsyms_iterate(const struct guest_kallsyms *kallsyms)
{
	return (struct guest_kallsyms_iterator){ kallsyms, 0, kallsyms->names };
}

/* False at the end. Names that are too long are cut. */
bool guest_kallsyms_next(struct guest_kallsyms_iterator *iterator,
			 struct guest_kallsyms_symbol *ret);

#endif
