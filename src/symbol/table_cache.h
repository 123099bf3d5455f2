/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol tables kept between runs, below $XDG_CACHE_HOME/perfvisor (~/.cache/perfvisor):
 * the text of the running kernel's kallsyms takes the kernel longer to write than all the
 * rest of a report, and reading the symbols of programs takes half of a short one. A cache
 * only: every failure is a miss, and whatever is there may go.
 */
#ifndef SYMBOL_TABLE_CACHE_H
#define SYMBOL_TABLE_CACHE_H

#include <stdint.h>

#include "symbol/table.h"

/* The table stored as NAME (a plain file name) with that very KEY; NULL for none. */
struct symbol_table *table_cache_load(const char *name, uint64_t key);
/* Replaces what is stored as NAME. */
void table_cache_store(const char *name, uint64_t key, const struct symbol_table *table);

#endif
