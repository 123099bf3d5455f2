/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of /proc/kallsyms and /proc/modules, of this machine or of a guest. */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/table.h"

#define KALLSYMS_MAX_BYTES ((size_t)256 << 20)
#define KALLSYMS_MAX_NAME_BYTES 1024 /* the kernel's own limit is 512 */

/* What kallsyms_parse() and kallsyms_parse_modules() saw. */
struct kallsyms_counts {
	size_t symbols;	   /* added to the builder */
	size_t not_wanted; /* well-formed, but of a type that perf does not take */
	size_t bad_lines;  /* not of the format */
	size_t zero_lines; /* address 0: hidden from a reader without the right */
};

/*
 * Adds the symbols of TEXT ("address type name [module]" lines; TEXT needs no terminator).
 * NAME is for messages. ERROR_PERMISSION where every address is 0, ERROR_BAD_DATA where the
 * text is not of this format at all. RET_COUNTS may be NULL.
 */
struct error *kallsyms_parse(const char *text, size_t size, const char *name,
			     struct symbol_builder *builder,
			     struct kallsyms_counts *ret_counts) MUST_CHECK;

/*
 * Adds the ranges of the modules of TEXT ("name size uses users state address" lines).
 * Modules with address 0 are left out: without the right to see them their symbols are
 * bounded by each other. An empty text is a kernel without modules.
 */
struct error *kallsyms_parse_modules(const char *text, size_t size, const char *name,
				     struct symbol_builder *builder,
				     struct kallsyms_counts *ret_counts) MUST_CHECK;

/* What kallsyms_add() takes of a file. */
struct kallsyms_filter {
	bool core;		 /* the kernel's own symbols */
	bool modules;		 /* the modules' */
	const char *only_module; /* of modules, only this one; NULL: all */
	bool no_generated;	 /* nothing that the kernel made as it ran: BPF, trampolines */
	uint64_t delta;		 /* added to the addresses */
};

/* Reads the file KALLSYMS, and the ranges in MODULES (NULL: none), into BUILDER. */
struct error *kallsyms_add(const char *kallsyms, const char *modules,
			   const struct kallsyms_filter *filter,
			   struct symbol_builder *builder) MUST_CHECK;
/* All of both files as a table. */
struct error *kallsyms_load(const char *kallsyms, const char *modules,
			    struct symbol_table **ret) MUST_CHECK;

/*
 * Appends TABLE, a kernel's, in the format of /proc/kallsyms; MODULES: with the modules' names.
 * Blanks and what is not ASCII become '?'.
 */
void kallsyms_write(const struct symbol_table *table, bool modules, struct buffer *out);
/* Appends those of its modules whose range is known in the format of /proc/modules. */
void kallsyms_write_modules(const struct symbol_table *table, struct buffer *out);

/*
 * The address of a symbol of that NAME in the file KALLSYMS (of any type, the first one);
 * ERROR_NOT_FOUND where it has none.
 */
struct error *kallsyms_find_symbol(const char *kallsyms, const char *name,
				   uint64_t *ret) MUST_CHECK;
/* Where the module NAME starts by the file MODULES. */
struct error *kallsyms_find_module(const char *modules, const char *name,
				   uint64_t *ret) MUST_CHECK;

#endif
