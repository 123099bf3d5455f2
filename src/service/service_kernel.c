/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers about the guest's kernel: its symbols, modules and unwind data, and how a sampler finds
 * the tasks that its CPUs run.
 */
#include <string.h>

#include "guest/process/cpus.h"
#include "guest/process/running.h"
#include "service/service_private.h"
#include "symbol/table.h"
#include "unwind/kernel/kernel_calls.h"
#include "unwind/kernel/kernel_table.h"

/* MODULES is NULL if they are unknown. */
static struct symbol_table *build_symbols(struct service *service,
					  const struct guest_modules *modules)
{
	const struct guest_symbol *symbols = guest_kernel_symbols(service->kernel);
	struct symbol_builder *builder = symbol_builder_create();

	for (size_t i = 0; i < guest_kernel_symbol_count(service->kernel); i++)
		symbol_builder_add(builder, symbols[i].address.value, 0, symbols[i].type,
				   symbols[i].name, NULL);
	for (size_t m = 0; modules && m < modules->items.count; m++) {
		const struct guest_module *module = &modules->items.items[m];

		for (size_t i = 0; i < module->range_count; i++)
			symbol_builder_add_module(builder, module->name,
						  module->ranges[i].start.value,
						  module->ranges[i].start.value +
							  module->ranges[i].bytes);
		for (size_t i = 0; i < module->symbol_count; i++) {
			const struct guest_symbol *symbol =
				&modules->symbols.items[module->first_symbol + i];

			symbol_builder_add(builder, symbol->address.value, 0, symbol->type,
					   symbol->name, module->name);
		}
	}
	return symbol_builder_finish(builder);
}

/* MODULES is NULL if they are unknown. */
static void append_symbols(struct service *service, const struct guest_modules *modules)
{
	_cleanup_symbol_table_ struct symbol_table *table = build_symbols(service, modules);

	symbol_table_encode(table, &service->answer);
}

struct symbol_table *service_kernel_symbols(struct service *service)
{
	_cleanup_error_ struct error *error = NULL;
	struct guest_modules modules;
	struct symbol_table *table;
	size_t skipped;

	error = guest_modules_read(service->kernel, &modules, &skipped);
	table = build_symbols(service, error ? NULL : &modules);
	if (!error)
		guest_modules_deinit(&modules);
	return table;
}

/* Answers with KEY; returns whether the owner already has the table with that key. */
static bool is_known(struct service *service, struct cursor *request, uint64_t key)
{
	buffer_append_u64(&service->answer, key);
	return key && cursor_u64(request) == key;
}

struct error *service_answer_symbols(struct service *service, struct cursor *request)
{
	_cleanup_error_ struct error *error = NULL;
	struct guest_modules modules, *known = NULL;
	size_t skipped;

	/* If its modules cannot be read, the kernel still has names of its own. */
	error = guest_modules_read(service->kernel, &modules, &skipped);
	if (!error)
		known = &modules;
	if (!is_known(service, request, service_symbols_key(service, known)))
		append_symbols(service, known);
	if (known)
		guest_modules_deinit(known);
	return NULL;
}

static void print_symbol(struct buffer *text, const struct guest_symbol *symbol,
			 const char *module)
{
	buffer_printf(text, module ? "%016llx %c %s\t[%s]\n" : "%016llx %c %s\n",
		      (unsigned long long)symbol->address.value, symbol->type, symbol->name,
		      module);
}

struct error *service_answer_kallsyms(struct service *service, struct cursor *request)
{
	const struct guest_symbol *symbols = guest_kernel_symbols(service->kernel);
	_cleanup_error_ struct error *no_modules = NULL;
	struct guest_modules modules;
	size_t skipped;

	(void)request;
	for (size_t i = 0; i < guest_kernel_symbol_count(service->kernel); i++)
		print_symbol(&service->answer, &symbols[i], NULL);
	no_modules = guest_modules_read(service->kernel, &modules, &skipped);
	if (no_modules)
		return NULL;
	for (size_t m = 0; m < modules.items.count; m++)
		for (size_t i = 0; i < modules.items.items[m].symbol_count; i++)
			print_symbol(
				&service->answer,
				&modules.symbols.items[modules.items.items[m].first_symbol + i],
				modules.items.items[m].name);
	guest_modules_deinit(&modules);
	return NULL;
}

/* kernel/module/procfs.c, m_show() */
static void print_module(struct buffer *text, const struct guest_module *module)
{
	static const char *const states[] = { "Live", "Loading", "Unloading" };

	buffer_printf(text, "%s %llu %lld ", module->name, (unsigned long long)module->bytes,
		      (long long)module->references);
	for (size_t i = 0; i < module->users.count; i++)
		buffer_printf(text, "%s,", module->users.items[i]);
	if (module->permanent)
		buffer_append_string(text, "[permanent],");
	else if (!module->users.count)
		buffer_append_string(text, "-");
	buffer_printf(text, " %s 0x%016llx%s%s\n", states[module->state],
		      (unsigned long long)module->text.value, *module->taints ? " " : "",
		      module->taints);
}

struct error *service_answer_modules(struct service *service, struct cursor *request)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(service->kernel, &modules, &skipped);

	(void)request;
	if (error)
		return error;
	for (size_t i = 0; i < modules.items.count; i++)
		print_module(&service->answer, &modules.items.items[i]);
	guest_modules_deinit(&modules);
	return NULL;
}

static void append_cpus(struct service *service)
{
	struct guest_cpus cpus;

	guest_cpus_read(service->kernel, &cpus);
	buffer_append_u32(&service->answer, cpus.items.count);
	for (size_t i = 0; i < cpus.items.count; i++) {
		buffer_append_u32(&service->answer, cpus.items.items[i].apic_id);
		buffer_append_u64(&service->answer, cpus.items.items[i].base.value);
	}
	guest_cpus_deinit(&cpus);
}

struct error *service_answer_current(struct service *service, struct cursor *request)
{
	struct guest_current current;
	struct error *error = guest_current_find(service->kernel, &current);

	(void)request;
	if (error)
		return error;
	buffer_append(&service->answer, &current, sizeof(current));
	append_cpus(service);
	return NULL;
}

static struct error *append_unwind_table(struct service *service,
					 const struct guest_modules *modules)
{
	struct unwind_table *table;
	struct error *error = unwind_table_read(service->kernel, modules, &table);

	if (error)
		return error;
	unwind_table_encode(table, &service->answer);
	unwind_table_destroy(table);
	return NULL;
}

struct error *service_answer_unwind(struct service *service, struct cursor *request)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(service->kernel, &modules, &skipped);

	if (error)
		return error;
	if (!is_known(service, request, service_unwind_key(service, &modules)))
		error = append_unwind_table(service, &modules);
	guest_modules_deinit(&modules);
	return error;
}

struct error *service_answer_calls(struct service *service, struct cursor *request)
{
	struct guest_modules modules;
	size_t skipped;
	struct error *error = guest_modules_read(service->kernel, &modules, &skipped);

	(void)request;
	if (error)
		return error;
	error = unwind_calls_read(service->kernel, &modules, &service->answer);
	guest_modules_deinit(&modules);
	return error;
}
