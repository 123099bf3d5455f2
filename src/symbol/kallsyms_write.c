/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables as the text of /proc/kallsyms and /proc/modules, for tools that read those. */
#include "symbol/kallsyms.h"

#include "symbol/table_private.h"

/* Replaces characters not allowed there: perf takes a byte above 127 for the end of the file. */
static void put_name(const char *name, struct buffer *out)
{
	for (const char *at = name; *at; at++)
		buffer_append_u8(out, *at > ' ' && *at < 0x7f ? *at : '?');
}

void kallsyms_write(const struct symbol_table *table, bool modules, struct buffer *out)
{
	for (size_t i = 0; i < symbol_table_count(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);
		const char *module = modules ? symbol_module(table, symbol) : NULL;

		buffer_printf(out, "%016llx %c ", (unsigned long long)symbol->start, symbol->type);
		put_name(symbol_name(table, symbol), out);
		if (module) {
			buffer_append_string(out, "\t[");
			put_name(module, out);
			buffer_append_u8(out, ']');
		}
		buffer_append_u8(out, '\n');
	}
}

void kallsyms_write_modules(const struct symbol_table *table, struct buffer *out)
{
	for (size_t i = 0; i < table->module_count; i++) {
		const struct symbol_module_range *module = &table->modules[i];

		if (module->start >= module->end)
			continue;
		put_name(table->text + module->name, out);
		buffer_printf(out, " %llu 0 - Live 0x%016llx\n",
			      (unsigned long long)(module->end - module->start),
			      (unsigned long long)module->start);
	}
}
