/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of /proc/kallsyms and /proc/modules, from this machine or a guest. */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/table.h"

#define KALLSYMS_MAX_BYTES ((size_t)256 << 20)
#define KALLSYMS_MAX_NAME_BYTES 1024 /* the kernel's own limit is 512 */

/* Counts from kallsyms_parse() and kallsyms_parse_modules(). */
struct kallsyms_counts {
	size_t symbols;	   /* added to the builder */
	size_t not_wanted; /* well-formed, but of a type that perf leaves out */
	size_t bad_lines;  /* not in the format */
	size_t zero_lines; /* address 0: hidden from unprivileged readers */
};

/*
 * Adds the symbols in TEXT ("address type name [module]" lines; TEXT needs no terminator). NAME is
 * for messages. ERROR_PERMISSION if every address is 0, ERROR_BAD_DATA if the text does not have
 * this format at all. RET_COUNTS may be NULL.
 */
struct error *kallsyms_parse(const char *text, size_t size, const char *name,
			     struct symbol_builder *builder,
			     struct kallsyms_counts *ret_counts) MUST_CHECK;

/*
 * Adds the ranges of the modules in TEXT ("name size users uses state address" lines). Modules with
 * address 0 (hidden from unprivileged readers) are left out: their symbols are then bounded by each
 * other. An empty text means a kernel without modules.
 */
struct error *kallsyms_parse_modules(const char *text, size_t size, const char *name,
				     struct symbol_builder *builder,
				     struct kallsyms_counts *ret_counts) MUST_CHECK;

/* Which symbols kallsyms_add() takes from a file. */
struct kallsyms_filter {
	bool core;		 /* the kernel's own symbols */
	bool modules;		 /* the modules' */
	const char *only_module; /* only this module's; NULL: all modules' */
	bool no_generated;	 /* leave out code generated at run time: BPF, trampolines */
	uint64_t delta;		 /* added to the addresses */
};

/*
 * Reads the file KALLSYMS, and module ranges from MODULES (NULL: none), into BUILDER. For all these
 * functions, ROOT is as for file_open(): NULL, or the folder that somebody else has filled.
 */
struct error *kallsyms_add(const char *root, const char *kallsyms, const char *modules,
			   const struct kallsyms_filter *filter,
			   struct symbol_builder *builder) MUST_CHECK;
/* Loads all of both files into a table. */
struct error *kallsyms_load(const char *root, const char *kallsyms, const char *modules,
			    struct symbol_table **ret) MUST_CHECK;

/*
 * Appends TABLE, which is a kernel's, in the format of /proc/kallsyms; MODULES: with module names.
 * Blanks and non-ASCII characters become '?'.
 */
void kallsyms_write(const struct symbol_table *table, bool modules, struct buffer *out);
/* Appends the modules with known ranges in the format of /proc/modules. */
void kallsyms_write_modules(const struct symbol_table *table, struct buffer *out);

/*
 * The address of the first symbol NAME of any type in the file KALLSYMS; ERROR_NOT_FOUND if there
 * is none.
 */
struct error *kallsyms_find_symbol(const char *root, const char *kallsyms, const char *name,
				   uint64_t *ret) MUST_CHECK;
/* The start of the module NAME according to the file MODULES. */
struct error *kallsyms_find_module(const char *modules, const char *name,
				   uint64_t *ret) MUST_CHECK;

#endif
