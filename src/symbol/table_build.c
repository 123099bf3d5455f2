/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a symbol table: collects, sorts, ends the open symbols, and chooses among those at the
 * same address.
 *
 * The rules are those of stock perf (tools/perf/util/symbol.c of Linux 6.1: symbols__fixup_end(),
 * choose_best_symbol()), so that profiles of both tools can be compared:
 *
 * 1. Symbols are sorted by start; equal starts stay in the order in which they were added.
 * 2. An open symbol ends where the next one starts. So of several open symbols at one address, all
 *    but the last are empty. Between the kernel's own symbols and a module's, it ends within two
 *    pages instead, and so does the very last symbol.
 * 3. Of several symbols at one address, the first of these criteria that differs decides: not
 *    empty; not weak; global; fewer leading underscores; longer name; not a "SyS" alias; added
 *    first. Of programs, this compares demangled names, so "operator new[]" is better than
 *    "operator new".
 *
 * There are two differences, where perf relies on its maps to hide the symbol's end: a module's
 * symbols end at the module's end if its range is known, and the page rule also applies between two
 * modules.
 */
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vector.h"
#include "symbol/dso.h"
#include "symbol/table.h"
#include "symbol/table_private.h"

#define PAGE_BYTES 4096
/* per table: names after these, or after those that cost a quarter of a second, stay mangled */
#define MAX_DEMANGLED 65536
#define DEMANGLE_BUDGET ((uint64_t)1 << 28)

struct symbol_builder {
	VECTOR(struct symbol) symbols; /* their module is 1 + the index below, as in the table */
	VECTOR(struct symbol_module_range) modules;
	VECTOR(char) text;
	struct map module_numbers; /* number of the interned name -> 1 + index */
	struct intern *module_names;
	const char *last_module; /* interned; modules come in runs */
	uint32_t last_module_number;
	bool is_program;
	unsigned int demangled;
	uint64_t demangle_budget;
};

struct symbol_builder *symbol_builder_create(void)
{
	struct symbol_builder *builder = memory_calloc(1, sizeof(*builder));

	builder->module_names = intern_create();
	map_init(&builder->module_numbers);
	builder->demangle_budget = DEMANGLE_BUDGET;
	return builder;
}

void symbol_builder_set_program(struct symbol_builder *builder)
{
	builder->is_program = true;
}

void symbol_builder_destroy(struct symbol_builder *builder)
{
	if (!builder)
		return;
	intern_destroy(builder->module_names);
	map_deinit(&builder->module_numbers);
	vector_deinit(&builder->symbols);
	vector_deinit(&builder->modules);
	vector_deinit(&builder->text);
	free(builder);
}

/* False if there is no room for more text. */
static bool add_text(struct symbol_builder *builder, const char *name, uint32_t *ret)
{
	size_t bytes = strlen(name) + 1;
	size_t offset = builder->text.count;

	if (bytes > TABLE_MAX_TEXT_BYTES - offset)
		return false;
	vector_reserve(&builder->text, offset + bytes);
	for (size_t i = 0; i < bytes - 1; i++) {
		unsigned char byte = name[i];

		builder->text.items[offset + i] = byte < ' ' || byte == 0x7f ? '?' : byte;
	}
	builder->text.items[offset + bytes - 1] = 0;
	builder->text.count += bytes;
	*ret = offset;
	return true;
}

/* 1 + the index of the module NAME, which is added if it is new; 0: no room. */
static uint32_t module_number(struct symbol_builder *builder, const char *name)
{
	struct symbol_module_range module = { 0 };
	uint32_t interned;
	uint64_t *number;

	if (builder->last_module && !strcmp(builder->last_module, name))
		return builder->last_module_number;
	interned = intern_text(builder->module_names, name);
	number = map_insert(&builder->module_numbers, interned, NULL);
	if (!*number) {
		if (builder->modules.count >= TABLE_MAX_MODULES ||
		    !add_text(builder, name, &module.name))
			return 0;
		vector_append(&builder->modules, module);
		*number = builder->modules.count;
	}
	builder->last_module = intern_string(builder->module_names, interned);
	builder->last_module_number = *number;
	return *number;
}

bool symbol_builder_add(struct symbol_builder *builder, uint64_t start, uint64_t end, char type,
			const char *name, const char *module)
{
	struct symbol symbol = { .start = start, .end = end > start ? end : start, .type = type };

	if (builder->symbols.count >= TABLE_MAX_SYMBOLS)
		return false;
	if (module) {
		symbol.module = module_number(builder, module);
		if (!symbol.module)
			return false;
	}
	if (!add_text(builder, name, &symbol.name))
		return false;
	vector_append(&builder->symbols, symbol);
	return true;
}

void symbol_builder_add_module(struct symbol_builder *builder, const char *module, uint64_t start,
			       uint64_t end)
{
	uint32_t number = module_number(builder, module);

	if (!number || end <= start)
		return;
	builder->modules.items[number - 1].start = start;
	builder->modules.items[number - 1].end = end;
}

void symbol_builder_add_table(struct symbol_builder *builder, const struct symbol_table *table)
{
	for (size_t i = 0; i < table->module_count; i++)
		symbol_builder_add_module(builder, table->text + table->modules[i].name,
					  table->modules[i].start, table->modules[i].end);
	for (size_t i = 0; i < table->symbol_count; i++) {
		const struct symbol *symbol = &table->symbols[i];

		symbol_builder_add(builder, symbol->start, symbol->end, symbol->type,
				   symbol_name(table, symbol), symbol_module(table, symbol));
	}
}

static bool is_sorted(const struct symbol *symbols, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (symbols[i - 1].start > symbols[i].start)
			return false;
	return true;
}

/* A stable sort. Each symbol is moved once. */
static void sort_symbols(struct symbol *symbols, size_t count)
{
	_cleanup_free_ struct sort_key *keys = NULL;
	_cleanup_free_ struct symbol *unsorted = NULL;

	if (is_sorted(symbols, count))
		return;
	keys = memory_alloc(count * sizeof(*keys));
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){ symbols[i].start, i };
	sort_keys(keys, count);
	unsorted = memory_dup(symbols, count * sizeof(*symbols));
	for (size_t i = 0; i < count; i++)
		symbols[i] = unsorted[keys[i].index];
}

/* ADDRESS rounded up to a page, plus BYTES, or the last possible address. */
static uint64_t page_end(uint64_t address, uint64_t bytes)
{
	uint64_t end;

	if (__builtin_add_overflow(address, bytes + PAGE_BYTES - 1, &end))
		return UINT64_MAX;
	return end & ~(uint64_t)(PAGE_BYTES - 1);
}

/* The upper limit for SYMBOL's end set by its module: UINT64_MAX if it is unknown. */
static uint64_t module_end(const struct symbol_builder *builder, const struct symbol *symbol)
{
	const struct symbol_module_range *module;

	if (!symbol->module)
		return UINT64_MAX;
	module = &builder->modules.items[symbol->module - 1];
	return symbol->start >= module->start && symbol->start < module->end ? module->end
									     : UINT64_MAX;
}

static uint64_t open_end(const struct symbol_builder *builder, const struct symbol *symbol,
			 const struct symbol *next)
{
	uint64_t end = module_end(builder, symbol);

	if (end == UINT64_MAX && (!next || next->module != symbol->module))
		end = page_end(symbol->start, PAGE_BYTES);
	return next && next->start < end ? next->start : end;
}

static void end_open_symbols(struct symbol_builder *builder)
{
	struct symbol *symbols = builder->symbols.items;
	size_t count = builder->symbols.count;

	for (size_t i = 0; i < count; i++)
		if (symbols[i].end == symbols[i].start)
			symbols[i].end = open_end(builder, &symbols[i],
						  i + 1 < count ? &symbols[i + 1] : NULL);
}

static bool is_weak(const struct symbol *symbol)
{
	return symbol->type == 'W' || symbol->type == 'V';
}

static bool is_global(const struct symbol *symbol)
{
	return symbol->type >= 'A' && symbol->type <= 'Z' && !is_weak(symbol);
}

static bool is_syscall_alias(const char *name)
{
	return !strncmp(name, "SyS", 3) || !strncmp(name, "compat_SyS", 10);
}

/* The rest of rule 3. */
static bool second_is_named_better(const char *first, const char *second)
{
	size_t first_length = strspn(first, "_"), second_length = strspn(second, "_");

	if (first_length != second_length)
		return second_length < first_length;
	first_length = strlen(first);
	second_length = strlen(second);
	if (first_length != second_length)
		return second_length > first_length;
	return is_syscall_alias(first);
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* A symbol that is compared with others at its address. */
struct candidate {
	const struct symbol *symbol;
	char *demangled; /* NULL: not yet, or not needed; owned */
};

/* The name by which CANDIDATE is compared; demangled once. */
static const char *compared_name(struct symbol_builder *builder, struct candidate *candidate)
{
	const char *name = builder->text.items + candidate->symbol->name;

	if (!builder->is_program || !is_mangled(name))
		return name;
	if (!candidate->demangled && builder->demangled < MAX_DEMANGLED) {
		builder->demangled++;
		candidate->demangled = dso_demangle_within(name, &builder->demangle_budget);
	}
	return candidate->demangled ? candidate->demangled : name;
}

/* Rule 3 above: true if SECOND, which was added later, is better. */
static bool second_is_better(struct symbol_builder *builder, struct candidate *first,
			     struct candidate *second)
{
	const struct symbol *one = first->symbol, *two = second->symbol;

	if ((one->end > one->start) != (two->end > two->start))
		return two->end > two->start;
	if (is_weak(one) != is_weak(two))
		return is_weak(one);
	if (is_global(one) != is_global(two))
		return is_global(two);
	return second_is_named_better(compared_name(builder, first),
				      compared_name(builder, second));
}

/* The best of the COUNT symbols at SYMBOLS, which start at one address. */
static struct symbol best_of(struct symbol_builder *builder, const struct symbol *symbols,
			     size_t count)
{
	struct candidate best = { .symbol = symbols };

	for (size_t i = 1; i < count; i++) {
		struct candidate candidate = { .symbol = &symbols[i] };

		if (second_is_better(builder, &best, &candidate)) {
			free(best.demangled);
			best = candidate;
		} else {
			free(candidate.demangled);
		}
	}
	free(best.demangled);
	return *best.symbol;
}

/* Keeps one symbol for each address, and none that is empty. */
static void drop_duplicates(struct symbol_builder *builder)
{
	struct symbol *symbols = builder->symbols.items;
	size_t kept = 0, next;

	for (size_t i = 0; i < builder->symbols.count; i = next) {
		struct symbol best;

		next = i + 1;
		while (next < builder->symbols.count && symbols[next].start == symbols[i].start)
			next++;
		best = best_of(builder, &symbols[i], next - i);
		/* Only a symbol at the very last address can still be empty. */
		if (best.end > best.start)
			symbols[kept++] = best;
	}
	builder->symbols.count = kept;
}

/* Each symbol's `outer`: the nearest symbol before it that ends after it. */
static void link_outer_symbols(struct symbol *symbols, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t outer = i;

		while (outer && symbols[outer - 1].end <= symbols[i].end)
			outer = symbols[outer - 1].outer;
		symbols[i].outer = outer;
	}
}

/*
 * Copies the names of the remaining symbols, in order, to TO; returns the bytes used. A name that
 * is a suffix of the one before shares its bytes: a kernel has "__pfx_x" before each "x".
 */
static size_t copy_names(const struct symbol_builder *builder, struct symbol *symbols,
			 struct symbol_module_range *modules, char *to)
{
	size_t count = builder->symbols.count;
	size_t used = 0, last = 0;

	for (size_t i = 0; i < count + builder->modules.count; i++) {
		uint32_t *name = i < count ? &symbols[i].name : &modules[i - count].name;
		const char *text = builder->text.items + *name;
		size_t bytes = strlen(text) + 1;

		if (bytes <= last && !memcmp(to + used - bytes, text, bytes)) {
			*name = used - bytes;
			continue;
		}
		memcpy(to + used, text, bytes);
		*name = used;
		used += bytes;
		last = bytes;
	}
	return used;
}

/* The builder's arrays, packed one after another into one block of memory. */
static struct symbol_table *pack(const struct symbol_builder *builder)
{
	size_t symbols_bytes = builder->symbols.count * sizeof(struct symbol);
	size_t modules_bytes = builder->modules.count * sizeof(struct symbol_module_range);
	char *block = memory_alloc(symbols_bytes + modules_bytes + builder->text.count + 1);
	struct symbol_module_range *modules = (void *)(block + symbols_bytes);
	struct symbol *symbols = (void *)block;
	char *text = block + symbols_bytes + modules_bytes;
	size_t text_bytes;

	if (symbols_bytes)
		memcpy(symbols, builder->symbols.items, symbols_bytes);
	if (modules_bytes)
		memcpy(modules, builder->modules.items, modules_bytes);
	text_bytes = copy_names(builder, symbols, modules, text);
	return symbol_table_create(symbols, builder->symbols.count, modules, builder->modules.count,
				   text, text_bytes, block);
}

struct symbol_table *symbol_builder_finish(struct symbol_builder *builder)
{
	struct symbol_table *table;

	sort_symbols(builder->symbols.items, builder->symbols.count);
	end_open_symbols(builder);
	drop_duplicates(builder);
	link_outer_symbols(builder->symbols.items, builder->symbols.count);
	table = pack(builder);
	symbol_builder_destroy(builder);
	return table;
}
