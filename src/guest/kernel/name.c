/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms_lookup(): the first of the symbols at the highest address that is not above the given
 * one; it ends where the next higher one starts, or where its memory ends (kernel/kallsyms.c,
 * get_symbol_pos(); kernel/module/kallsyms.c, find_kallsyms_symbol()). A module's symbols are not
 * sorted.
 */
#include "guest/kernel/name.h"

#include "base/search.h"

#include <string.h>

static bool find_in_kernel(const struct guest_kernel *kernel, uint64_t address,
			   struct guest_name *ret)
{
	const struct guest_kernel_image *image = guest_kernel_get_image(kernel);
	const struct guest_symbol *symbols = guest_kernel_symbols(kernel);
	size_t count = guest_kernel_symbol_count(kernel);
	size_t place = SEARCH_COUNT(i, count, symbols[i].address.value <= address);
	uint64_t start, end;

	if (!place || address < image->start.value || address >= image->end.value)
		return false;
	end = place < count ? symbols[place].address.value : image->end.value;
	start = symbols[place - 1].address.value;
	while (place > 1 && symbols[place - 2].address.value == start)
		place--;
	*ret = (struct guest_name){ symbols[place - 1].name, NULL, address - start, end - start };
	return true;
}

/* The assembler's local names, which kallsyms hides (include/linux/module_symbol.h). */
static bool is_mapping_symbol(const char *name)
{
	return !strncmp(name, ".L", 2) || !strncmp(name, "L0", 2) || *name == '$';
}

static bool find_in_range(const struct guest_modules *modules, const struct guest_module *module,
			  const struct guest_module_range *range, uint64_t address,
			  struct guest_name *ret)
{
	const struct guest_symbol *best = NULL;
	uint64_t end = range->start.value + range->bytes;

	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct guest_symbol *symbol =
			&modules->symbols.items[module->first_symbol + i];
		uint64_t value = symbol->address.value;

		if (value < range->start.value || is_mapping_symbol(symbol->name))
			continue;
		if (value <= address && (!best || value > best->address.value))
			best = symbol;
		else if (value > address && value < end)
			end = value;
	}
	if (!best)
		return false;
	*ret = (struct guest_name){ best->name, module->name, address - best->address.value,
				    end - best->address.value };
	return true;
}

bool guest_name_find(const struct guest_kernel *kernel, const struct guest_modules *modules,
		     struct gva address, struct guest_name *ret)
{
	for (size_t m = 0; modules && m < modules->items.count; m++) {
		const struct guest_module *module = &modules->items.items[m];

		for (size_t i = 0; i < module->range_count; i++)
			if (address.value - module->ranges[i].start.value < module->ranges[i].bytes)
				return find_in_range(modules, module, &module->ranges[i],
						     address.value, ret);
	}
	return find_in_kernel(kernel, address.value, ret);
}
