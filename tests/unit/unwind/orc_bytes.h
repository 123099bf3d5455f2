/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ORC entries as defined by kernel headers (arch/x86/include/asm/orc_types.h), hand-written for
 * each form, and small tables of them.
 */
#ifndef ORC_BYTES_H
#define ORC_BYTES_H

#include <string.h>

#include "unwind/table/table.h"

enum what { CALL, REGS, PARTIAL, END, UNDEFINED };
enum reg { NONE, PREV_SP, SP, BP, AX, DX, DI, R10, R13, BP_INDIRECT, SP_INDIRECT };

struct entry {
	uint64_t ip;
	enum what what;
	enum reg sp;
	int16_t sp_offset;
	enum reg bp;
	int16_t bp_offset;
};

/* ORC_REG_*, indexed by enum reg: until 6.x, and as renumbered. */
static const uint8_t orc_registers[2][11] = {
	{ 0, 1, 5, 4, 10, 2, 3, 6, 7, 8, 9 },
	{ 0, 8, 3, 4, 1, 2, 5, 6, 7, 10, 9 },
};

static inline uint16_t entry_bits(enum orc_form form, const struct entry *entry)
{
	static const uint8_t old_types[] = { 0, 1, 2, 0, 0 }, new_types[] = { 2, 3, 4, 1, 0 };
	const uint8_t *registers = orc_registers[form == ORC_FORM_RENUMBERED];
	unsigned int bits = registers[entry->sp] | registers[entry->bp] << 4;
	unsigned int signal = entry->what == REGS || entry->what == PARTIAL;

	switch (form) {
	case ORC_FORM_END:
		return bits | old_types[entry->what] << 8 | (entry->what == END) << 10;
	case ORC_FORM_SIGNAL_END:
		return bits | old_types[entry->what] << 8 | signal << 10 |
		       (entry->what == END) << 11;
	default:
		return bits | new_types[entry->what] << 8 | signal << 11;
	}
}

static inline void put_entry(enum orc_form form, const struct entry *entry, uint8_t *to)
{
	uint16_t bits = entry_bits(form, entry);

	memcpy(to, &entry->sp_offset, 2);
	memcpy(to + 2, &entry->bp_offset, 2);
	memcpy(to + 4, &bits, 2);
}

#define MAX_TEST_ENTRIES 1024

struct test_source {
	struct unwind_source source;
	uint8_t ips[MAX_TEST_ENTRIES * ORC_IP_BYTES];
	uint8_t entries[MAX_TEST_ENTRIES * ORC_ENTRY_BYTES];
};

/* The tables for [START, END), which come after it in the guest. */
static inline void make_source(struct test_source *to, enum orc_form form, uint64_t start,
			       uint64_t end, const struct entry *entries, size_t count)
{
	uint64_t ips_at = end + 0x1000;

	for (size_t i = 0; i < count; i++) {
		int32_t offset = (int32_t)(entries[i].ip - (ips_at + i * ORC_IP_BYTES));

		memcpy(to->ips + i * ORC_IP_BYTES, &offset, ORC_IP_BYTES);
		put_entry(form, &entries[i], to->entries + i * ORC_ENTRY_BYTES);
	}
	to->source = (struct unwind_source){ GVA(start), GVA(end),	GVA(ips_at), to->ips,
					     to->entries, count, form };
}

#endif
