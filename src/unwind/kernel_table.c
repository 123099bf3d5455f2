/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmlinux has its tables between symbols, sorted when it was linked (scripts/sorttable, since 5.6) or
 * when it booted; a module's are in its struct module (unwind_module_init()).
 */
#include "unwind/kernel_table.h"

#include "base/memory.h"

#define MAX_ENTRIES ((uint64_t)4 << 20) /* of the kernel, or of a module */

/* What a function's return address is replaced by. */
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

/* FORM NULL: to be found out, and given in *RET_FORM. */
static bool add_tables(struct unwind_table *table, const struct guest_kernel *kernel,
		       const struct tables *tables, struct gva start, struct gva end,
		       const enum orc_form *form, enum orc_form *ret_form)
{
	struct guest_space *space = guest_kernel_space(kernel);
	_cleanup_free_ uint8_t *ips = guest_space_copy(
		space, tables->ips, tables->count * ORC_IP_BYTES, MAX_ENTRIES * ORC_IP_BYTES);
	_cleanup_free_ uint8_t *entries =
		guest_space_copy(space, tables->entries, tables->count * ORC_ENTRY_BYTES,
				 MAX_ENTRIES * ORC_ENTRY_BYTES);
	struct unwind_source source = { .start = start,
					.end = end,
					.ips_at = tables->ips,
					.ips = ips,
					.entries = entries,
					.count = tables->count };

	if (!ips || !entries)
		return false;
	if (form)
		source.form = *form;
	else if (!orc_find_form(guest_kernel_btf(kernel), entries, tables->count, &source.form))
		return false;
	*ret_form = source.form;
	return unwind_table_add(table, &source);
}

static void add_module(struct unwind_table *table, const struct guest_kernel *kernel,
		       const struct guest_module *module, enum orc_form form)
{
	struct tables tables = { module->orc_ips, module->orc_entries, module->orc_count };

	for (size_t i = 0; module->orc_count && i < module->range_count; i++) {
		const struct guest_module_range *range = &module->ranges[i];

		if (range->start.value == module->text.value)
			add_tables(table, kernel, &tables, range->start,
				   GVA(range->start.value + range->bytes), &form, &form);
	}
}

static void add_trampolines(struct unwind_table *table, const struct guest_kernel *kernel)
{
	struct gva at;

	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (guest_kernel_find_symbol(kernel, trampolines[i], &at))
			unwind_table_add_trampoline(table, at);
}

struct error *unwind_table_read(const struct guest_kernel *kernel,
				const struct guest_modules *modules, struct unwind_table **ret)
{
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	const struct guest_kernel_image *image = guest_kernel_get_image(kernel);
	struct tables tables;
	enum orc_form form;

	if (!find_tables(kernel, &tables))
		return error_create(ERROR_UNSUPPORTED,
				    "the guest's kernel has no unwind data (CONFIG_UNWINDER_ORC)");
	if (!add_tables(table, kernel, &tables, image->start, image->end, NULL, &form))
		return error_create(ERROR_UNSUPPORTED,
				    "the unwind data of the guest's kernel are of no known form");
	for (size_t i = 0; modules && i < modules->items.count; i++)
		add_module(table, kernel, &modules->items.items[i], form);
	add_trampolines(table, kernel);
	*ret = take_pointer(table);
	return NULL;
}
