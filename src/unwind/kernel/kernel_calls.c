/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running kernel changes its code. While booting, it patches in what suits the machine
 * (alternatives, paravirt), so the code is read after boot. Later it changes the targets of static
 * calls, which are listed in tables; it turns the function tracer's 5-byte no-ops into calls, and
 * probed instructions into breakpoints (int3); and it turns the no-ops of static keys into jumps,
 * which stay in the function or lead to its .cold part. A kernel built for IBT has endbr wherever
 * indirect calls and jumps may lead, and at boot replaces those it does not need with no-ops. In
 * other kernels they may lead anywhere, and SP would hardly ever be unique. Static calls also lead
 * to functions with endbr if these are written in C, since the compiler emits endbr for functions
 * whose address is taken. Other code may have none.
 *
 * Source: arch/x86/kernel/{alternative,ftrace,static_call}.c, include/linux/static_call_types.h.
 */
#include "unwind/kernel/kernel_calls.h"

#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "base/sort.h"
#include "unwind/kernel/kernel_calls_private.h"

#define MAX_CODE ((uint64_t)64 << 20) /* of the kernel and all modules together */
#define MAX_OUTSIDE ((size_t)1 << 20) /* call targets examined outside of all code */
#define MAX_SITES 65536               /* static calls of the kernel, or of a module */
#define SYSTEM_RUNNING 3              /* enum system_states, include/linux/kernel.h, since 4.13 */
#define STATIC_CALL_TAIL 1            /* in a site's key: it is a jump */

/* A new task's first switch returns to these, without a call. */
static const char *const beginnings[] = { "ret_from_fork", "ret_from_fork_asm" };

static bool find_range(const struct guest_kernel *kernel, const char *start, const char *end,
		       struct range *ret)
{
	struct gva from, to;

	if (!guest_kernel_find_symbol(kernel, start, &from) ||
	    !guest_kernel_find_symbol(kernel, end, &to) || from.value > to.value ||
	    from.value < UNWIND_CODE_START)
		return false;
	*ret = (struct range){ from.value, to.value };
	return true;
}

void reading_sort(void *items, size_t count, size_t bytes, bool first)
{
	_cleanup_free_ struct sort_key *keys = memory_calloc(count + 1, sizeof(*keys));
	_cleanup_free_ uint8_t *sorted = memory_calloc(count + 1, bytes);

	for (size_t i = 0; i < count; i++) {
		uint32_t words[2];

		memcpy(words, (uint8_t *)items + i * bytes, sizeof(words));
		keys[i] = (struct sort_key){ (uint64_t)words[0] << 32 | (first ? 0 : words[1]), i };
	}
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++)
		memcpy(sorted + i * bytes, (uint8_t *)items + keys[i].index * bytes, bytes);
	if (count)
		memcpy(items, sorted, count * bytes);
}

bool reading_find_function(const struct reading *reading, uint64_t address, size_t *ret)
{
	size_t place = SEARCH_COUNT(i, reading->functions.count,
				    reading->functions.items[i].start <= (uint32_t)address);

	*ret = place - 1;
	return place;
}

bool reading_is_code(const struct reading *reading, uint64_t address)
{
	for (size_t i = 0; i < reading->code->items.count; i++)
		if (range_holds(&reading->code->items.items[i], address))
			return true;
	return false;
}

void reading_add_call(struct reading *reading, const struct code *code, uint64_t behind,
		      uint32_t callee)
{
	if (reading->calls.count < MAX_FOUND)
		vector_append(&reading->calls,
			      (struct unwind_call){ (uint32_t)(code->start + behind), callee });
}

void reading_add_jump(struct reading *reading, uint32_t from, uint32_t to)
{
	if (from != to && reading->jumps.count < MAX_FOUND)
		vector_append(&reading->jumps, (struct unwind_jump){ from, to });
}

static struct error *read_code(struct reading *reading, const struct range *range)
{
	uint64_t size = range->end - range->start;
	_cleanup_free_ uint8_t *bytes = NULL;

	if (size <= reading->code_left)
		bytes = guest_space_copy(guest_kernel_space(reading->kernel), GVA(range->start),
					 size, MAX_CODE);
	if (!bytes)
		return error_create(ERROR_UNSUPPORTED, "the guest's kernel code cannot be read");
	reading->code_left -= size;
	reading_look_at_code(reading, &(struct code){ bytes, size, range->start });
	return NULL;
}

/*
 * Calls with variable targets, and jumps. Each entry has an offset from itself to the instruction.
 */
static void add_static_calls(struct reading *reading, struct gva table, uint64_t count)
{
	_cleanup_free_ uint8_t *sites = NULL;

	if (!count || count > MAX_SITES)
		return;
	sites = guest_space_copy(guest_kernel_space(reading->kernel), table, count * 8,
				 MAX_SITES * 8);
	for (uint64_t i = 0; sites && i < count; i++) {
		int32_t words[2];
		uint64_t at;
		size_t function;

		memcpy(words, sites + i * sizeof(words), sizeof(words));
		at = table.value + i * sizeof(words) + (int64_t)words[0];
		vector_append(&reading->calls,
			      (struct unwind_call){ (uint32_t)at + 5, CHANGING_TARGET });
		if (words[1] & STATIC_CALL_TAIL && reading_find_function(reading, at, &function))
			reading_add_jump(reading, reading->functions.items[function].number,
					 UNWIND_ANY_TARGET);
	}
}

/*
 * The functions that static calls lead to, found by their keys: struct static_call_key starts with
 * a pointer.
 */
static void add_key(struct reading *reading, const struct guest_symbol *symbol)
{
	uint64_t at;
	size_t function;

	if (!strncmp(symbol->name, "__SCK__", 7) &&
	    guest_space_read_u64(guest_kernel_space(reading->kernel), symbol->address, &at) &&
	    reading_is_code(reading, at) && reading_find_function(reading, at, &function))
		vector_append(&reading->targets, reading->functions.items[function].number);
}

static void add_known(struct reading *reading, uint64_t start, uint64_t end)
{
	if (start >= UNWIND_CODE_START && start < end)
		vector_append(&reading->ranges,
			      (struct unwind_known_range){ (uint32_t)start, (uint32_t)end });
}

/* The current target of a static call may also be called by others. */
static uint32_t either(struct reading *reading, uint32_t callee, uint32_t other)
{
	if (callee == CHANGING_TARGET || other == CHANGING_TARGET) {
		vector_append(&reading->targets, callee == CHANGING_TARGET ? other : callee);
		return CHANGING_TARGET;
	}
	return callee == other ? callee : UNWIND_ANY_FUNCTION;
}

/* For each address, keeps the call with the widest choice of targets. */
static void unite(struct reading *reading)
{
	size_t kept = 0;

	SORT(&reading->calls, true);
	for (size_t i = 0; i < reading->calls.count; i++) {
		const struct unwind_call *call = &reading->calls.items[i];

		if (!kept || reading->calls.items[kept - 1].behind != call->behind)
			reading->calls.items[kept++] = *call;
		else
			reading->calls.items[kept - 1].callee = either(
				reading, reading->calls.items[kept - 1].callee, call->callee);
	}
	reading->calls.count = kept;
	for (size_t i = 0; i < kept; i++)
		if (reading->calls.items[i].callee == CHANGING_TARGET)
			reading->calls.items[i].callee = UNWIND_ANY_TARGET;
	kept = 0;
	SORT(&reading->jumps, false);
	for (size_t i = 0; i < reading->jumps.count; i++)
		if (!kept || memcmp(&reading->jumps.items[kept - 1], &reading->jumps.items[i],
				    sizeof(struct unwind_jump)))
			reading->jumps.items[kept++] = reading->jumps.items[i];
	reading->jumps.count = kept;
	SORT(&reading->ranges, true);
}

static bool has_booted(const struct guest_kernel *kernel)
{
	struct gva at;
	uint32_t state = 0;

	return guest_kernel_find_symbol(kernel, "system_state", &at) &&
	       guest_space_read_u32(guest_kernel_space(kernel), at, &state) &&
	       state == SYSTEM_RUNNING;
}

/* Whether indirect calls lead to a point in front of functions (CONFIG_CFI_CLANG). */
static bool has_checks(const struct guest_kernel *kernel)
{
	const struct guest_symbol *symbols = guest_kernel_symbols(kernel);

	for (size_t i = 0; i < guest_kernel_symbol_count(kernel); i++)
		if (!strncmp(symbols[i].name, "__cfi_", 6))
			return true;
	return false;
}

static struct error *find_kernel(struct reading *reading, struct code_ranges *ret)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(reading->kernel);
	struct range text, init;
	struct gva symbol;

	if (!guest_kernel_find_symbol(reading->kernel, "__ibt_endbr_seal", &symbol) ||
	    has_checks(reading->kernel))
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel is not built for indirect branch tracking "
				    "(CONFIG_X86_KERNEL_IBT)");
	if (!has_booted(reading->kernel))
		return error_create(ERROR_UNSUPPORTED, "the guest's kernel has not booted yet");
	if (!find_range(reading->kernel, "_stext", "_etext", &text) ||
	    !find_range(reading->kernel, "_sinittext", "_einittext", &init) ||
	    !find_range(reading->kernel, "__entry_text_start", "__entry_text_end",
			&reading->entry) ||
	    !find_range(reading->kernel, "__noinstr_text_start", "__noinstr_text_end",
			&reading->untraced))
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel has no symbols that mark its entry code");
	reading->has_thunks =
		guest_kernel_find_symbol(reading->kernel, "__x86_indirect_thunk_rax", &symbol);
	/* Init code is gone. Nothing is mapped in front of the image. */
	add_known(reading, image->start.value,
		  init.start < image->end.value ? init.start : image->end.value);
	add_known(reading, UNWIND_CODE_START, image->start.value);
	add_known(reading, init.end, image->end.value);
	add_known(reading, UNWIND_CODE_END, UINT64_MAX);
	vector_append(&ret->items, text);
	return NULL;
}

static void find_module(struct reading *reading, const struct guest_module *module,
			struct code_ranges *ret)
{
	for (size_t i = 0; i < module->range_count; i++) {
		struct range range = { module->ranges[i].start.value,
				       module->ranges[i].start.value + module->ranges[i].bytes };

		if (range.start < UNWIND_CODE_START || range.end < range.start)
			continue;
		add_known(reading, range.start, range.end);
		if (range.start == module->text.value)
			vector_append(&ret->items, range);
	}
}

static void add_changing(struct reading *reading, const struct guest_modules *modules)
{
	struct range sites;
	struct gva at;

	if (find_range(reading->kernel, "__start_static_call_sites", "__stop_static_call_sites",
		       &sites))
		add_static_calls(reading, GVA(sites.start), (sites.end - sites.start) / 8);
	for (size_t i = 0; i < guest_kernel_symbol_count(reading->kernel); i++)
		add_key(reading, &guest_kernel_symbols(reading->kernel)[i]);
	for (size_t i = 0; i < modules->symbols.count; i++)
		add_key(reading, &modules->symbols.items[i]);
	for (size_t i = 0; i < modules->items.count; i++)
		add_static_calls(reading, modules->items.items[i].static_calls,
				 modules->items.items[i].static_call_count);
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (guest_kernel_find_symbol(reading->kernel, beginnings[i], &at))
			vector_append(&reading->calls, (struct unwind_call){ (uint32_t)at.value,
									     UNWIND_ANY_FUNCTION });
}

static struct error *read_all(struct reading *reading, const struct guest_modules *modules,
			      struct code_ranges *code)
{
	struct error *error = find_kernel(reading, code);

	for (size_t i = 0; !error && i < modules->items.count; i++)
		find_module(reading, &modules->items.items[i], code);
	if (error)
		return error;
	reading_find_functions(reading, modules);
	if (!reading->functions.count)
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel has no function symbols");
	for (size_t i = 0; !error && i < code->items.count; i++)
		error = read_code(reading, &code->items.items[i]);
	if (!error && (reading->calls.count == MAX_FOUND || reading->jumps.count == MAX_FOUND ||
		       !reading->outside_left))
		error = error_create(ERROR_UNSUPPORTED,
				     "the guest's kernel has an implausible number of calls");
	if (!error)
		add_changing(reading, modules);
	return error;
}

struct error *unwind_calls_read(const struct guest_kernel *kernel,
				const struct guest_modules *modules, struct buffer *out)
{
	struct code_ranges code = { 0 };
	struct reading reading = {
		.kernel = kernel, .code = &code, .code_left = MAX_CODE, .outside_left = MAX_OUTSIDE
	};
	struct error *error = read_all(&reading, modules, &code);

	if (!error) {
		unite(&reading);
		reading_spread_targets(&reading);
		unwind_calls_encode(
			&(struct unwind_calls_source){ reading.functions.items, reading.calls.items,
						       reading.jumps.items, reading.ranges.items,
						       reading.functions.count, reading.calls.count,
						       reading.jumps.count, reading.ranges.count },
			out);
	}
	vector_deinit(&code.items);
	vector_deinit(&reading.functions);
	vector_deinit(&reading.calls);
	vector_deinit(&reading.jumps);
	vector_deinit(&reading.ranges);
	vector_deinit(&reading.targets);
	return error ? error_prefix(error, "could not list the calls of the guest's kernel") : NULL;
}
