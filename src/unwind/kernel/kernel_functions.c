/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions through their symbols. Code that may run on other stacks has sections of its own:
 * entry code, and code that must not be traced (noinstr), which includes the first code that runs
 * on the stacks of NMIs and exceptions. The functions that copy memory are in noinstr, too, but
 * that first code only calls them if IRET fails.
 *
 * Source: kernel/entry/common.c, include/asm-generic/vmlinux.lds.h.
 */
#include "unwind/kernel/kernel_calls_private.h"

#include <string.h>

#include "base/map.h"

#define MAX_ROUNDS 64

struct names {
	const char *const *items;
	size_t count;
};

#define NAMES(...)                                                                                 \
	{                                                                                          \
		(const char *const[]){ __VA_ARGS__ },                                              \
			sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)              \
	}

/* They continue at an address in a register. */
static const struct names indirect_names = NAMES("__x86_indirect_", "its_", "__SCT__");
/* They continue anywhere. */
static const struct names anywhere = NAMES("__fentry__", "ftrace_call", "ftrace_regs_call",
					   "ftrace_stub", "ftrace_graph_call", "ftrace_epilogue");
/* Only reached through static calls: what a tracepoint calls. */
static const struct names iterators = NAMES("__traceiter_", "__probestub_");
/* Called by all code, including entry code. */
static const struct names thunks =
	NAMES("__x86_", "srso_", "retbleed_", "zen_", "entry_", "its_", "call_depth_", "warn_thunk",
	      "write_ibpb", "clear_bhb", "asm_", "xen_");
/* In noinstr code, but called by other code, too. */
static const struct names copying =
	NAMES("memcpy", "__memcpy", "memset", "__memset", "memmove", "__memmove");
/* Not the start of a function, but the padding in front of one. */
static const struct names padding_names = NAMES("__pfx_", "__cfi_");

static bool begins(const char *name, const struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strncmp(name, names->items[i], strlen(names->items[i])))
			return true;
	return false;
}

static bool is_one_of(const char *name, const struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(name, names->items[i]))
			return true;
	return false;
}

/* For a part that the compiler moved away, the length of its function's name, else that of NAME. */
static size_t name_length(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold ? (size_t)(cold - name) : strlen(name);
}

struct symbols {
	const struct guest_symbol *items;
	size_t count;
};

static void note_moved(const struct symbols *symbols, struct map *names)
{
	for (size_t i = 0; i < symbols->count; i++)
		if (strstr(symbols->items[i].name, ".cold"))
			map_insert(names,
				   hash_bytes(symbols->items[i].name,
					      name_length(symbols->items[i].name)),
				   NULL);
}

/*
 * Functions that share a name, and of which parts were moved away, count as one: there is no way to
 * tell which part belongs to which.
 */
static void add_functions(struct reading *reading, const struct symbols *symbols,
			  const struct range *code, struct map *names, struct map *anywhere_at)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const struct guest_symbol *symbol = &symbols->items[i];
		uint64_t at = symbol->address.value;
		uint64_t *number;
		struct unwind_function function = { .start = (uint32_t)at, .number = (uint32_t)at };
		bool elsewhere;

		if (!range_holds(code, at) || begins(symbol->name, &padding_names))
			continue;
		number = map_find(names, hash_bytes(symbol->name, name_length(symbol->name)));
		if (number) {
			*number = *number ? *number : at;
			function.number = (uint32_t)*number;
		}
		elsewhere =
			range_holds(&reading->entry, at) || begins(symbol->name, &thunks) ||
			(range_holds(&reading->untraced, at) && !is_one_of(symbol->name, &copying));
		function.flags = (elsewhere ? UNWIND_FUNCTION_ELSEWHERE : 0) |
				 (strstr(symbol->name, ".cold") ? UNWIND_FUNCTION_MOVED : 0) |
				 (begins(symbol->name, &iterators) ? UNWIND_FUNCTION_TARGET : 0);
		if (begins(symbol->name, &anywhere))
			*map_insert(anywhere_at, at, NULL) = UNWIND_ANY_FUNCTION;
		else if (begins(symbol->name, &indirect_names))
			*map_insert(anywhere_at, at, NULL) = UNWIND_ANY_TARGET;
		vector_append(&reading->functions, function);
	}
}

/* Merges symbols at the same address: their flags are combined, and the first number is kept. */
static void unite_functions(struct reading *reading, const struct map *anywhere_at)
{
	size_t kept = 0;

	SORT(&reading->functions, true);
	for (size_t i = 0; i < reading->functions.count; i++) {
		struct unwind_function *function = &reading->functions.items[i];
		struct unwind_function *last = kept ? &reading->functions.items[kept - 1] : NULL;

		if (!last || last->start != function->start) {
			reading->functions.items[kept++] = *function;
			continue;
		}
		last->flags |= function->flags;
		/* Two functions share this address: treat them as leading to each other. */
		if (last->number != function->number) {
			vector_append(&reading->jumps,
				      (struct unwind_jump){ last->number, function->number });
			vector_append(&reading->jumps,
				      (struct unwind_jump){ function->number, last->number });
		}
	}
	reading->functions.count = kept;
	for (size_t i = 0; i < kept; i++) {
		const struct unwind_function *function = &reading->functions.items[i];
		const uint64_t *where = map_find(anywhere_at, UNWIND_CODE_START | function->start);

		if (where)
			vector_append(&reading->jumps,
				      (struct unwind_jump){ function->number, (uint32_t)*where });
	}
}

/* If a function may run elsewhere, so may the parts of it that were moved away. */
static void spread_elsewhere(struct reading *reading)
{
	_cleanup_map_ struct map elsewhere;

	map_init(&elsewhere);
	for (size_t i = 0; i < reading->functions.count; i++)
		if (reading->functions.items[i].flags & UNWIND_FUNCTION_ELSEWHERE)
			map_insert(&elsewhere, reading->functions.items[i].number, NULL);
	for (size_t i = 0; i < reading->functions.count; i++)
		if (map_find(&elsewhere, reading->functions.items[i].number))
			reading->functions.items[i].flags |= UNWIND_FUNCTION_ELSEWHERE;
}

/*
 * If a target of indirect calls continues in a function without a call, that function is a target,
 * too, with all of its parts.
 */
void reading_spread_targets(struct reading *reading)
{
	_cleanup_map_ struct map targets;
	size_t before, rounds = 0;

	map_init(&targets);
	for (size_t i = 0; i < reading->functions.count; i++)
		if (reading->functions.items[i].flags & UNWIND_FUNCTION_TARGET)
			map_insert(&targets, reading->functions.items[i].number, NULL);
	for (size_t i = 0; i < reading->targets.count; i++)
		map_insert(&targets, reading->targets.items[i], NULL);
	do {
		before = targets.count;
		for (size_t i = 0; i < reading->jumps.count; i++)
			if (map_find(&targets, reading->jumps.items[i].from))
				map_insert(&targets, reading->jumps.items[i].to, NULL);
	} while (targets.count > before && ++rounds < MAX_ROUNDS);
	for (size_t i = 0; i < reading->functions.count; i++)
		if (rounds == MAX_ROUNDS || map_find(&targets, reading->functions.items[i].number))
			reading->functions.items[i].flags |= UNWIND_FUNCTION_TARGET;
}

void reading_find_functions(struct reading *reading, const struct guest_modules *modules)
{
	const struct code_ranges *code = reading->code;
	const struct symbols kernel = { guest_kernel_symbols(reading->kernel),
					guest_kernel_symbol_count(reading->kernel) };
	const struct symbols others = { modules->symbols.items, modules->symbols.count };
	_cleanup_map_ struct map names, anywhere_at;

	map_init(&names);
	map_init(&anywhere_at);
	note_moved(&kernel, &names);
	note_moved(&others, &names);
	for (size_t i = 0; i < code->items.count; i++)
		add_functions(reading, i ? &others : &kernel, &code->items.items[i], &names,
			      &anywhere_at);
	unite_functions(reading, &anywhere_at);
	spread_elsewhere(reading);
}
