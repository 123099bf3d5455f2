/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind data of one guest's kernel and its modules, or of a program's file, organised for fast
 * lookups: 6 to 10 bytes per row, and no pointers to follow.
 */
#ifndef UNWIND_TABLE_TABLE_H
#define UNWIND_TABLE_TABLE_H

#include "arch/arch.h"
#include "base/buffer.h"
#include "base/error.h"
#include "unwind/table/calls.h"
#include "unwind/table/orc.h"

#define UNWIND_MAX_TRAMPOLINES 4

/* Unwind data as it is in the guest: two arrays of COUNT, sorted by address. */
struct unwind_source {
	struct gva start, end; /* the code that they describe; end is exclusive */
	struct gva ips_at;     /* address of IPS in the guest: they are relative to themselves */
	const uint8_t *ips, *entries; /* borrowed, of any alignment */
	size_t count;
	enum orc_form form;
};

/* Rows as they are stored: row I applies from start + ips[I] up to the next one, or END. */
struct unwind_rows {
	struct gva start, end; /* of the code; for a file: its offsets */
	const uint32_t *ips;   /* ascending; of equal ones, the last applies */
	const struct unwind_row *rows;
	size_t count;
};

struct unwind_table;

struct unwind_table *unwind_table_create(void);
void unwind_table_destroy(struct unwind_table *table); /* takes NULL */

/*
 * Adds a kernel or a module, whose code must not overlap with existing code. False: there is too
 * much data, or it is not like a kernel's; nothing is added then.
 */
bool unwind_table_add(struct unwind_table *table, const struct unwind_source *source);
bool unwind_table_add_rows(struct unwind_table *table, const struct unwind_rows *rows);
/* A function whose address replaces return addresses (kretprobes, the function graph tracer). */
void unwind_table_add_trampoline(struct unwind_table *table, struct gva at);
bool unwind_table_is_trampoline(const struct unwind_table *table, uint64_t address);

/*
 * Code without rows keeps frame pointers: the kernel is built that way
 * (CONFIG_UNWINDER_FRAME_POINTER).
 */
void unwind_table_expect_frame_pointers(struct unwind_table *table);
bool unwind_table_expects_frame_pointers(const struct unwind_table *table);

/* Which code can have called what; the table takes CALLS. NULL: unknown. */
void unwind_table_set_calls(struct unwind_table *table, struct unwind_calls *calls);
const struct unwind_calls *unwind_table_calls(const struct unwind_table *table);

/* Its code is 32-bit: words on the stack are 4 bytes. */
void unwind_table_set_bits32(struct unwind_table *table);
bool unwind_table_is_bits32(const struct unwind_table *table);

/* The row for the instruction at IP; NULL: no data for it. Valid until the next add. */
const struct unwind_row *unwind_table_find(const struct unwind_table *table, uint64_t ip);
size_t unwind_table_rows(const struct unwind_table *table); /* for all code, as stored */
/* What it takes in memory, with its calls: as its rows do, not as the span of its code. */
size_t unwind_table_bytes(const struct unwind_table *table);

/* The table as bytes, in this machine's byte order: the cage makes it, another process uses it. */
void unwind_table_encode(const struct unwind_table *table, struct buffer *out);
/*
 * ERROR_BAD_DATA: not a valid encoding. Decoded contents may be wrong, but are safe to use, and
 * take at most UNWIND_TABLE_COST times SIZE in memory, or UNWIND_TABLE_MIN_BYTES.
 */
#define UNWIND_TABLE_COST 12
#define UNWIND_TABLE_MIN_BYTES 4096
struct error *unwind_table_decode(const void *data, size_t size,
				  struct unwind_table **ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_unwind_table, struct unwind_table *, unwind_table_destroy)
#define _cleanup_unwind_table_ _cleanup_(cleanup_unwind_table)

#endif
