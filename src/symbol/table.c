/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups in a symbol table: flat arrays sorted by address, with binary search.
 *
 * Ranges may overlap (an ELF label inside a function). The result is the symbol that starts last
 * among those that contain the address. Each symbol refers to the one around it (`outer`), so that
 * an address after the end of an inner symbol leads to the outer one without a scan.
 * OUTER_MAX_STEPS limits that; deeper nesting is ignored.
 *
 * The search first covers the start of every STEP-th symbol; these are stored contiguously, since
 * in the symbols themselves nearly every step would be a cache miss. Callers have their own caches
 * from address to symbol.
 */
#include "symbol/table.h"

#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/sort.h"
#include "symbol/table_private.h"

#define OUTER_MAX_STEPS 64
#define STEP 16 /* symbols of 32 bytes: each step covers eight cache lines */

/*
 * Modules stay in their original order, because symbols refer to their index: sort a separate
 * index.
 */
static void order_modules(struct symbol_table *table)
{
	_cleanup_free_ struct sort_key *keys =
		memory_calloc(table->module_count + 1, sizeof(*keys));
	uint32_t *order = memory_calloc(table->module_count + 1, sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; i < table->module_count; i++)
		if (table->modules[i].start < table->modules[i].end)
			keys[count++] = (struct sort_key){ table->modules[i].start, i };
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++)
		order[i] = keys[i].index;
	table->module_order = order;
	table->module_order_count = count;
}

static uint64_t *copy_starts(const struct symbol *symbols, size_t count)
{
	uint64_t *starts = memory_alloc((count + STEP - 1) / STEP * sizeof(*starts));

	for (size_t i = 0; i < count; i += STEP)
		starts[i / STEP] = symbols[i].start;
	return starts;
}

struct symbol_table *symbol_table_create(const struct symbol *symbols, size_t symbol_count,
					 const struct symbol_module_range *modules,
					 size_t module_count, const char *text, size_t text_bytes,
					 void *owned)
{
	struct symbol_table *table = memory_calloc(1, sizeof(*table));

	*table = (struct symbol_table){
		.symbols = symbols,
		.symbol_count = symbol_count,
		.starts = copy_starts(symbols, symbol_count),
		.modules = modules,
		.module_count = module_count,
		.text = text,
		.text_bytes = text_bytes,
		.owned = owned,
	};
	order_modules(table);
	return table;
}

struct symbol_table *symbol_table_share(struct symbol_table *table)
{
	table->more_owners++;
	return table;
}

bool symbol_table_is_shared(const struct symbol_table *table)
{
	return table->more_owners;
}

size_t symbol_table_bytes(const struct symbol_table *table)
{
	return sizeof(*table) + table->symbol_count * sizeof(*table->symbols) +
	       table->module_count * sizeof(*table->modules) + table->text_bytes;
}

void symbol_table_destroy(struct symbol_table *table)
{
	if (!table || (table->more_owners && table->more_owners--))
		return;
	free((void *)table->module_order);
	free((void *)table->starts);
	free(table->owned);
	file_unmap(&table->file);
	free(table);
}

size_t symbol_table_count(const struct symbol_table *table)
{
	return table->symbol_count;
}

const struct symbol *symbol_table_at(const struct symbol_table *table, size_t index)
{
	return &table->symbols[index];
}

/* The number of symbols that start at or before ADDRESS. */
static size_t count_starts(const struct symbol_table *table, uint64_t address)
{
	size_t left = (table->symbol_count + STEP - 1) / STEP;
	const uint64_t *start = table->starts;
	const struct symbol *base;

	if (!left || start[0] > address)
		return 0;
	/* Neither loop has a branch that the processor would have to predict. */
	while (left > 1) {
		size_t half = left / 2;

		start += start[half] <= address ? half : 0;
		left -= half;
	}
	base = table->symbols + (start - table->starts) * STEP;
	left = table->symbols + table->symbol_count - base;
	left = left < STEP ? left : STEP;
	for (size_t i = 0; i < left; i += 2) /* all at once: each would be waited for */
		__builtin_prefetch(&base[i]);
	while (left > 1) {
		size_t half = left / 2;

		base += base[half].start <= address ? half : 0;
		left -= half;
	}
	return base - table->symbols + 1;
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	uint32_t number = count_starts(table, address);

	for (int step = 0; number && step < OUTER_MAX_STEPS; step++) {
		const struct symbol *symbol = &table->symbols[number - 1];

		if (address < symbol->end)
			return symbol;
		number = symbol->outer;
	}
	return NULL;
}

const struct symbol *symbol_table_find_name(const struct symbol_table *table, const char *name)
{
	for (size_t i = 0; i < table->symbol_count; i++)
		if (!strcmp(symbol_name(table, &table->symbols[i]), name))
			return &table->symbols[i];
	return NULL;
}

const char *symbol_name(const struct symbol_table *table, const struct symbol *symbol)
{
	return table->text + symbol->name;
}

const char *symbol_module(const struct symbol_table *table, const struct symbol *symbol)
{
	return symbol->module ? table->text + table->modules[symbol->module - 1].name : NULL;
}

const char *symbol_table_find_module(const struct symbol_table *table, uint64_t address)
{
	const struct symbol_module_range *found;
	size_t place = SEARCH_COUNT(i, table->module_order_count,
				    table->modules[table->module_order[i]].start <= address);

	if (!place)
		return NULL;
	found = &table->modules[table->module_order[place - 1]];
	return address < found->end ? table->text + found->name : NULL;
}

uint64_t symbol_table_module_start(const struct symbol_table *table, const char *name)
{
	for (size_t i = 0; i < table->module_order_count; i++) {
		const struct symbol_module_range *module = &table->modules[table->module_order[i]];

		if (!strcmp(table->text + module->name, name))
			return module->start;
	}
	return 0;
}
