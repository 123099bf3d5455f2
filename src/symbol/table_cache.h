/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol tables kept between runs, in $XDG_CACHE_HOME/perfvisor (~/.cache/perfvisor). The kernel
 * takes longer to generate the text of kallsyms than all the rest of a report takes, and reading
 * the symbols of programs takes half the time of a short one. It is only a cache: every failure is
 * a miss, and everything in it may be deleted.
 */
#ifndef SYMBOL_TABLE_CACHE_H
#define SYMBOL_TABLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/table.h"

/* The folder, malloc()ed, which CREATE makes if it can; NULL: there is no place for one. */
char *table_cache_folder(bool create);
/*
 * The table stored as NAME (a plain file name, which gets a suffix) with exactly that KEY; NULL if
 * there is none.
 */
struct symbol_table *table_cache_load(const char *name, uint64_t key);
/* Replaces the table stored as NAME. */
void table_cache_store(const char *name, uint64_t key, const struct symbol_table *table);

#endif
