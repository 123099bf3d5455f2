/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the symbol table: table.c, table_build.c, table_code.c, table_pack.c.
 */
#ifndef SYMBOL_TABLE_PRIVATE_H
#define SYMBOL_TABLE_PRIVATE_H

#include "base/cursor.h"
#include "base/files/file.h"
#include "symbol/table.h"

/* Limits for a table: far above any kernel or program, and far below the range of an offset. */
#define TABLE_MAX_SYMBOLS ((size_t)1 << 26)
#define TABLE_MAX_MODULES ((size_t)1 << 16)
#define TABLE_MAX_TEXT_BYTES ((size_t)1 << 29)

struct symbol_module_range {
	uint64_t start;
	uint64_t end;  /* exclusive; start == end: unknown */
	uint32_t name; /* offset into the text */
	uint32_t unused;
};

struct symbol_table {
	const struct symbol *symbols;		    /* sorted by start, without duplicates */
	const struct symbol_module_range *modules; /* symbol.module is 1 + the index */
	const char *text;			    /* terminated names */
	size_t symbol_count;
	size_t module_count;
	size_t text_bytes;
	const uint64_t *starts; /* owned: of every STEP-th symbol, for symbol_table_find() */
	const uint32_t *module_order; /* owned: indexes of modules with a range, by start */
	size_t module_order_count;
	size_t more_owners;
	void *owned; /* memory of the arrays, NULL if they are borrowed, or in the file */
	struct mapped_file file; /* the same for a table from the cache; otherwise empty */
};

/*
 * A table from these arrays, which are in OWNED (which it takes; NULL: borrowed). They must be
 * valid: sorted, every offset in range, everything terminated.
 */
struct symbol_table *symbol_table_create(const struct symbol *symbols, size_t symbol_count,
					 const struct symbol_module_range *modules,
					 size_t module_count, const char *text, size_t text_bytes,
					 void *owned);

/* The first word of the packed form; its bytes read "PVSYMPK1" in big-endian order. */
#define TABLE_PACKED_MAGIC 0x505653594d504b31ULL

struct table_arrays {
	const struct symbol *symbols;
	const struct symbol_module_range *modules;
	const char *text;
	size_t symbol_count, module_count, text_bytes;
	void *owned; /* what they lie in, NULL: borrowed */
};
/*
 * The arrays of a packed table, which are not checked yet, and the caller's. CURSOR stands after
 * the magic. False: it is damaged.
 */
bool table_unpack(struct cursor *cursor, struct table_arrays *ret);

#endif
