/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmlinux has its tables between symbols. They were sorted when it was linked (scripts/sorttable,
 * since 5.6) or when it booted; a module's are in its struct module (unwind_module_init()). Kernels
 * built without them may keep frame pointers instead (CONFIG_UNWINDER_FRAME_POINTER), which shows
 * in the first instructions of their functions.
 */
#include "unwind/kernel/kernel_table.h"

#include <string.h>

#include "base/memory.h"

#define FUNCTIONS_LOOKED_AT 1000
#define MIN_FUNCTIONS 50
#define PROLOGUE_BYTES 13
/* For the kernel and all its modules together; a kernel has 400,000. */
#define MAX_ENTRIES ((uint64_t)4 << 20)

/* Functions whose addresses replace a function's return address. */
static const char *const trampolines[] = {
	"return_to_handler",       /* the function graph tracer */
	"arch_rethook_trampoline", /* kretprobes since 5.19 */
	"__kretprobe_trampoline",  /* since 5.15 */
	"kretprobe_trampoline",
};

struct tables {
	struct gva ips, entries;
	uint64_t count;
};

static bool find_tables(const struct guest_kernel *kernel, struct tables *ret)
{
	struct gva ips_end, entries_end;

	if (!guest_kernel_find_symbol(kernel, "__start_orc_unwind_ip", &ret->ips) ||
	    !guest_kernel_find_symbol(kernel, "__stop_orc_unwind_ip", &ips_end) ||
	    !guest_kernel_find_symbol(kernel, "__start_orc_unwind", &ret->entries) ||
	    !guest_kernel_find_symbol(kernel, "__stop_orc_unwind", &entries_end))
		return false;
	ret->count = (ips_end.value - ret->ips.value) / ORC_IP_BYTES;
	return ret->count <= MAX_ENTRIES &&
	       entries_end.value - ret->entries.value == ret->count * ORC_ENTRY_BYTES;
}

/* The state while reading all of them. */
struct load {
	const struct guest_kernel *kernel;
	struct unwind_table *table;
	enum orc_form form;    /* the kernel's, and so its modules' */
	uint64_t entries_left; /* thousands of modules may point to the same large table */
};

static bool copy_tables(struct load *load, const struct tables *tables, uint8_t **ret_ips,
			uint8_t **ret_entries)
{
	struct guest_space *space = guest_kernel_space(load->kernel);

	if (tables->count > load->entries_left)
		return false;
	load->entries_left -= tables->count;
	*ret_ips = guest_space_copy(space, tables->ips, tables->count * ORC_IP_BYTES,
				    MAX_ENTRIES * ORC_IP_BYTES);
	*ret_entries = guest_space_copy(space, tables->entries, tables->count * ORC_ENTRY_BYTES,
					MAX_ENTRIES * ORC_ENTRY_BYTES);
	return *ret_ips && *ret_entries;
}

/* Adds the tables for the code in [START, END). FIND_FORM: this is the kernel. */
static bool add_tables(struct load *load, const struct tables *tables, struct gva start,
		       struct gva end, bool find_form)
{
	_cleanup_free_ uint8_t *ips = NULL, *entries = NULL;
	struct unwind_source source = {
		.start = start, .end = end, .ips_at = tables->ips, .count = tables->count
	};

	if (!copy_tables(load, tables, &ips, &entries))
		return false;
	if (find_form &&
	    !orc_find_form(guest_kernel_btf(load->kernel), entries, tables->count, &load->form))
		return false;
	source.ips = ips;
	source.entries = entries;
	source.form = load->form;
	return unwind_table_add(load->table, &source);
}

static void add_module(struct load *load, const struct guest_module *module)
{
	struct tables tables = { module->orc_ips, module->orc_entries, module->orc_count };

	for (size_t i = 0; module->orc_count && i < module->range_count; i++) {
		const struct guest_module_range *range = &module->ranges[i];

		if (range->start.value == module->text.value)
			add_tables(load, &tables, range->start,
				   GVA(range->start.value + range->bytes), false);
	}
}

static void add_trampolines(struct unwind_table *table, const struct guest_kernel *kernel)
{
	struct gva at;

	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (guest_kernel_find_symbol(kernel, trampolines[i], &at))
			unwind_table_add_trampoline(table, at);
}

/* push %rbp; mov %rsp,%rbp, perhaps after the code for branch tracking and the function tracer. */
static bool makes_frame(const uint8_t *code)
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	static const uint8_t offsets[] = { 0, 4 /* endbr64 */, 5 /* call or nop */, 9 /* both */ };

	for (size_t i = 0; i < sizeof(offsets); i++)
		if (!memcmp(code + offsets[i], prologue, sizeof(prologue)))
			return true;
	return false;
}

static bool is_function(const struct guest_kernel_image *image, const struct guest_symbol *symbol)
{
	uint64_t address = symbol->address.value;

	/* Padding that the compiler puts in front of functions has symbols of its own. */
	if (!strncmp(symbol->name, "__pfx_", 6) || !strncmp(symbol->name, "__cfi_", 6))
		return false;
	for (size_t i = 0; i < image->regions.count; i++) {
		const struct guest_region *region = &image->regions.items[i];

		if (region->kind == GUEST_REGION_TEXT && address >= region->start.value &&
		    address < region->end.value)
			return true;
	}
	return false;
}

/*
 * Whether half of a sample of functions, spread over the kernel, set up a frame. (Without frame
 * pointers, a few still do: those that realign their stack.)
 */
static bool keeps_frame_pointers(const struct guest_kernel *kernel)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(kernel);
	const struct guest_symbol *symbols = guest_kernel_symbols(kernel);
	size_t count = guest_kernel_symbol_count(kernel), functions = 0, frames = 0;

	for (size_t i = 0; i < count; i += 1 + count / FUNCTIONS_LOOKED_AT) {
		uint8_t code[PROLOGUE_BYTES];

		if (!is_function(image, &symbols[i]) ||
		    !guest_space_read(guest_kernel_space(kernel), symbols[i].address, code,
				      sizeof(code)))
			continue;
		functions++;
		frames += makes_frame(code);
	}
	return functions >= MIN_FUNCTIONS && frames >= functions / 2;
}

static struct error *use_frame_pointers(const struct guest_kernel *kernel,
					struct unwind_table *table)
{
	if (!keeps_frame_pointers(kernel))
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel has no unwind data (CONFIG_UNWINDER_ORC), "
				    "and keeps no frame pointers");
	unwind_table_expect_frame_pointers(table);
	return NULL;
}

static struct error *read_tables(const struct guest_kernel *kernel, const struct tables *tables,
				 const struct guest_modules *modules, struct unwind_table *table)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(kernel);
	struct load load = { .kernel = kernel, .table = table, .entries_left = MAX_ENTRIES };

	if (!add_tables(&load, tables, image->start, image->end, true))
		return error_create(ERROR_UNSUPPORTED,
				    "the unwind data of the guest's kernel has an unknown format");
	for (size_t i = 0; modules && i < modules->items.count; i++)
		add_module(&load, &modules->items.items[i]);
	return NULL;
}

struct error *unwind_table_read(const struct guest_kernel *kernel,
				const struct guest_modules *modules, struct unwind_table **ret)
{
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	struct tables tables;
	struct error *error;

	add_trampolines(table, kernel);
	error = find_tables(kernel, &tables) ? read_tables(kernel, &tables, modules, table)
					     : use_frame_pointers(kernel, table);
	if (error)
		return error;
	*ret = take_pointer(table);
	return NULL;
}
