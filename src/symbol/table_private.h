/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the three files of the symbol table share: table.c, table_build.c, table_code.c. */
#ifndef SYMBOL_TABLE_PRIVATE_H
#define SYMBOL_TABLE_PRIVATE_H

#include "base/file.h"
#include "symbol/table.h"

/* Limits of a table. Far above any kernel's or program's, and far below what an offset can say. */
#define TABLE_MAX_SYMBOLS ((size_t)1 << 26)
#define TABLE_MAX_MODULES ((size_t)1 << 16)
#define TABLE_MAX_TEXT_BYTES ((size_t)1 << 29)

struct symbol_module_range {
	uint64_t start;
	uint64_t end;  /* exclusive; start == end: not known */
	uint32_t name; /* offset into the text */
	uint32_t unused;
};

struct symbol_table {
	const struct symbol *symbols;		    /* by start, each start once */
	const struct symbol_module_range *modules; /* symbol.module is 1 + the index */
	const char *text;			    /* terminated names */
	size_t symbol_count;
	size_t module_count;
	size_t text_bytes;
	const uint64_t *starts; /* owned: of some of the symbols, for symbol_table_find() */
	const uint32_t *module_order; /* owned: indexes of modules with a range, by start */
	size_t module_order_count;
	void *owned; /* what the arrays lie in, NULL where they are borrowed, or in the file */
	struct mapped_file file; /* likewise, of a table that was stored; else empty */
};

/*
 * A table of the arrays, which lie in OWNED (which it takes; NULL: borrowed). They are
 * valid: sorted, every offset inside, everything terminated.
 */
struct symbol_table *symbol_table_create(const struct symbol *symbols, size_t symbol_count,
					 const struct symbol_module_range *modules,
					 size_t module_count, const char *text, size_t text_bytes,
					 void *owned);

#endif
