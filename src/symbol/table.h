/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A symbol table: address ranges with a name and, for kernels, the module that each belongs to. It
 * is built once, sorted, and then only read: lookups are safe from several threads.
 *
 * The sorted table has a byte form (symbol_table_encode) for recordings and caches; its format is
 * in docs/perfvisor-sections.md.
 */
#ifndef SYMBOL_TABLE_H
#define SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

struct symbol {
	uint64_t start;
	uint64_t end;	 /* exclusive; in a table, end > start */
	uint32_t name;	 /* offset into the table's text; use symbol_name() */
	uint32_t module; /* 0: the dso itself ("[kernel]", the ELF file); else symbol_module() */
	uint32_t outer;	 /* for symbol_table_find(): 1 + index of the symbol around this one */
	char type;	 /* as in nm: 't', 'T', 'w' …; '?' if the source has none */
	char unused[3];
};

struct symbol_table;
struct symbol_builder;

/* Collects symbols in any order; duplicates are allowed. */
struct symbol_builder *symbol_builder_create(void);
void symbol_builder_destroy(struct symbol_builder *builder); /* takes NULL */
/* These are a program's symbols: finish() compares demangled names. A kernel's stay as they are. */
void symbol_builder_set_program(struct symbol_builder *builder);
/*
 * END 0: unknown; the table ends the symbol at the next one, or at its module's end. MODULE NULL:
 * none. Control characters in names become '?'. False: the table is full, and the symbol was not
 * added.
 */
bool symbol_builder_add(struct symbol_builder *builder, uint64_t start, uint64_t end, char type,
			const char *name, const char *module);
/* The range of a module (from /proc/modules): limits its symbols. END is exclusive. */
void symbol_builder_add_module(struct symbol_builder *builder, const char *module, uint64_t start,
			       uint64_t end);
/* Adds all symbols and modules of TABLE. If both have a symbol at an address, finish() chooses. */
void symbol_builder_add_table(struct symbol_builder *builder, const struct symbol_table *table);
/*
 * Sorts, ends the open symbols, and keeps one of several symbols at the same address, the same as
 * perf (tools/perf/util/symbol.c, choose_best_symbol). Takes BUILDER.
 */
struct symbol_table *symbol_builder_finish(struct symbol_builder *builder);

DEFINE_CLEANUP(cleanup_symbol_builder, struct symbol_builder *, symbol_builder_destroy)
#define _cleanup_symbol_builder_ _cleanup_(cleanup_symbol_builder)

void symbol_table_destroy(struct symbol_table *table); /* takes NULL */
/* Another owner of TABLE, by whom it must be destroyed, too. Not for several threads at once. */
struct symbol_table *symbol_table_share(struct symbol_table *table);
bool symbol_table_is_shared(const struct symbol_table *table);
size_t symbol_table_bytes(const struct symbol_table *table); /* in memory */
size_t symbol_table_count(const struct symbol_table *table);
const struct symbol *symbol_table_at(const struct symbol_table *table, size_t index); /* sorted */
/*
 * The symbol whose range contains ADDRESS, or NULL; if there are several, the one that starts last.
 */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);
/* The first symbol with that name, or NULL; linear search. */
const struct symbol *symbol_table_find_name(const struct symbol_table *table, const char *name);
const char *symbol_name(const struct symbol_table *table, const struct symbol *symbol);
/* The module's name without brackets, NULL if it has none. */
const char *symbol_module(const struct symbol_table *table, const struct symbol *symbol);
/* The module whose range contains ADDRESS, even if no symbol does; NULL if there is none. */
const char *symbol_table_find_module(const struct symbol_table *table, uint64_t address);
/* Where the module NAME starts; 0 if its range is not known. Linear search. */
uint64_t symbol_table_module_start(const struct symbol_table *table, const char *name);

void symbol_table_encode(const struct symbol_table *table, struct buffer *out);
/* A form that is smaller, and better compressed; the same wherever the kernel was loaded. */
void symbol_table_pack(const struct symbol_table *table, struct buffer *out);
/*
 * Of either form. DATA is borrowed (whatever its alignment and byte order) and must live as long as
 * the table, unless symbol_table_is_whole(). Everything in it is checked, in time linear in SIZE.
 * ERROR_BAD_DATA describes what is wrong.
 */
struct error *symbol_table_decode(const void *data, size_t size, struct symbol_table **ret)
	MUST_CHECK;
/* Whether DATA begin like a packed table: decoded, it may take so many times SIZE in memory. */
#define SYMBOL_TABLE_PACKED_FACTOR 7
bool symbol_table_is_packed(const void *data, size_t size);
/* Whether what TABLE was decoded of is not needed any more. */
bool symbol_table_is_whole(const struct symbol_table *table);

DEFINE_CLEANUP(cleanup_symbol_table, struct symbol_table *, symbol_table_destroy)
#define _cleanup_symbol_table_ _cleanup_(cleanup_symbol_table)

#endif
