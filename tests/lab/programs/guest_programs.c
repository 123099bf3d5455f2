/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For test_guest_memory.sh: what src/host/inspect/guest_view.h gives of the programs that run in
 * the only VM of this host. For each executable mapping of the processes named COMM…
 *
 *	=== PID START PATH BUILD-ID
 *	OFFSET END TYPE NAME		of each symbol, or the reason why there are none behind "-"
 *	~ HASH ROWS			of its table of unwind data, or the reason behind "~ -"
 *
 * Each task is also asked for by its address, which must give what the walk of all tasks gave.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walls/cage.h"
#include "base/memory.h"
#include "host/inspect/guest_view.h"
#include "service/service.h"
#include "symbol/table.h"
#include "table_hash.h"

static void print_symbols(struct guest_view *view, const struct guest_mapping *mapping)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	_cleanup_error_ struct error *error = NULL;
	_cleanup_buffer_ struct buffer bytes;

	buffer_init(&bytes, (size_t)64 << 20);
	error = guest_view_file_symbols(view, mapping, &bytes);
	if (!error)
		error = symbol_table_decode(bytes.data, bytes.size, &table);
	if (error) {
		printf("- %s\n", error_message(error));
		return;
	}
	for (size_t i = 0; i < symbol_table_count(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);

		printf("%" PRIx64 " %" PRIx64 " %c %s\n", symbol->start, symbol->end, symbol->type,
		       symbol_name(table, symbol));
	}
}

static void print_unwind_table(struct guest_view *view, const struct guest_mapping *mapping)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL;
	_cleanup_error_ struct error *error =
		guest_view_file_unwind_table(view, mapping, &table);

	if (error)
		printf("~ - %s\n", error_message(error));
	else
		print_table_hash(table);
}

static void print_mapping(const struct guest_task *task, const struct guest_mapping *mapping,
			  const char *path)
{
	printf("=== %" PRIu32 " %" PRIx64 " %s ", task->pid, mapping->start.value, path);
	for (size_t i = 0; i < mapping->build_id.bytes; i++)
		printf("%02x", mapping->build_id.data[i]);
	putchar('\n');
}

static struct error *print_programs(struct guest_view *view, const struct guest_task *task)
{
	_cleanup_intern_ struct intern *strings = intern_create();
	struct guest_mappings mappings;
	struct error *error = guest_view_mappings(view, task->mm, strings, &mappings);

	if (error)
		return error;
	for (size_t i = 0; i < mappings.items.count; i++) {
		const struct guest_mapping *mapping = &mappings.items.items[i];
		const char *path = intern_string(strings, mapping->path);

		if (!mapping->execute || !*path)
			continue;
		print_mapping(task, mapping, path);
		print_symbols(view, mapping);
		print_unwind_table(view, mapping);
	}
	guest_mappings_deinit(&mappings);
	return NULL;
}

/* Both are as of the last refresh: nothing of it can have changed. */
static struct error *check_task(struct guest_view *view, const struct guest_task *task)
{
	struct guest_task again;
	struct error *error = guest_view_task(view, task->at, &again);

	if (error)
		return error;
	if (again.at.value != task->at.value || again.pid != task->pid ||
	    again.tgid != task->tgid || again.kernel_thread != task->kernel_thread ||
	    again.mm.value != task->mm.value ||
	    again.page_tables.value != task->page_tables.value ||
	    again.namespace_pid != task->namespace_pid || strcmp(again.comm, task->comm) != 0)
		return error_create(ERROR_BAD_DATA, "task %" PRIu32 " is not itself", task->pid);
	return NULL;
}

/* Where there is no task: user addresses, none at all, code. */
static struct error *check_no_task(struct guest_view *view)
{
	const uint64_t addresses[] = { 0, 0x400000, UINT64_MAX - 7,
				       guest_view_get_kernel(view)->start };
	struct guest_task task;

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		struct error *error = guest_view_task(view, GVA(addresses[i]), &task);

		if (!error)
			return error_create(ERROR_BAD_DATA, "%#" PRIx64 " is taken for a task",
					    addresses[i]);
		if (error_code(error) != ERROR_NOT_FOUND)
			return error;
		error_destroy(error);
	}
	return NULL;
}

static struct error *look(struct guest_view *view, char **names)
{
	struct guest_tasks tasks;
	struct error *error = guest_view_tasks(view, GUEST_THREADS, &tasks);

	if (error)
		return error;
	for (size_t i = 0; !error && i < tasks.items.count; i++)
		error = check_task(view, &tasks.items.items[i]);
	if (!error)
		error = check_no_task(view);
	for (size_t i = 0; !error && i < tasks.items.count; i++)
		for (char **name = names; !error && *name; name++)
			if (!strcmp(tasks.items.items[i].comm, *name))
				error = print_programs(view, &tasks.items.items[i]);
	guest_tasks_deinit(&tasks);
	return error;
}

static struct error *run(char **names)
{
	_cleanup_vm_memory_finder_ struct vm_memory_finder *finder = vm_memory_finder_create();
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct host_vms vms;
	struct error *error = host_vms_find(&vms);

	if (error)
		return error;
	error = vms.items.count == 1 ? guest_view_open(finder, &vms.items.items[0], &view)
				     : error_create(ERROR_NOT_FOUND, "there is not one VM");
	host_vms_deinit(&vms);
	return error ? error : look(view, names);
}

int main(int argc, char **argv)
{
	_cleanup_error_ struct error *error = NULL;

	/* The guest's parser is this program, too: cage_start(CAGE_GUEST, ) says so. */
	if (argc == 2 && !strcmp(argv[1], CAGE_GUEST_COMMAND)) {
		error = cage_enter(CAGE_GUEST);
		if (!error)
			guest_service_run(CAGE_FD);
	} else {
		error = run(argv + 1);
	}
	if (error)
		fprintf(stderr, "guest_programs: %s\n", error_message(error));
	return !!error;
}
