/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor ps: a guest's processes and their mappings, read from its memory. */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/guest_command.h"
#include "output/json.h"

struct ps_config {
	const char *vm;
	bool threads, json;
	struct unsigned_list maps; /* processes to show the mappings of */
};

#define FIELD(name) offsetof(struct ps_config, name)

static const struct option_spec ps_options[] = {
	{ OPTION_STRING, 0, "vm", FIELD(vm), "NAME|PID", "the VM (optional if there is only one)",
	  0, 0, COMPLETE_VM, NULL },
	{ OPTION_FLAG, 0, "threads", FIELD(threads), NULL, "list threads, too" },
	{ OPTION_UNSIGNEDS, 0, "maps", FIELD(maps), "PID",
	  "print the mappings of PID, as in /proc/PID/maps (may be repeated)", 1, UINT32_MAX },
	{ OPTION_FLAG, 0, "json", FIELD(json), NULL, "print JSON" },
	{ 0 },
};

static void print_tasks(const struct guest_tasks *tasks)
{
	printf("%7s %7s %7s  %s\n", "PID", "TID", "NSPID", "COMMAND");
	for (size_t i = 0; i < tasks->items.count; i++) {
		const struct guest_task *task = &tasks->items.items[i];
		char name[GUEST_TASK_NAME_BYTES], namespace_pid[16] = "-";

		if (!task->pid)
			continue; /* a CPU's idle task is not a process */
		if (task->namespace_level)
			snprintf(namespace_pid, sizeof(namespace_pid), "%" PRIu32,
				 task->namespace_pid);
		printf("%7" PRIu32 " %7" PRIu32 " %7s  %s%s%s\n", task->tgid, task->pid,
		       namespace_pid, task->kernel_thread ? "[" : "",
		       guest_command_printable(task->name, name, sizeof(name)),
		       task->kernel_thread ? "]" : "");
	}
}

static void write_task(struct json *json, const struct guest_task *task)
{
	json_unsigned(json, "pid", task->tgid);
	json_unsigned(json, "tid", task->pid);
	json_unsigned(json, "namespace_pid", task->namespace_pid);
	json_unsigned(json, "namespace_level", task->namespace_level);
	json_string(json, "comm", task->name);
	json_bool(json, "kernel_thread", task->kernel_thread);
}

static void write_tasks(const struct guest_tasks *tasks)
{
	struct json json;

	json_init(&json, stdout);
	json_open_array(&json, NULL);
	for (size_t i = 0; i < tasks->items.count; i++) {
		if (!tasks->items.items[i].pid)
			continue;
		json_open_object(&json, NULL);
		write_task(&json, &tasks->items.items[i]);
		json_close(&json);
	}
	json_close(&json);
}

/* Like show_vma_header_prefix() in fs/proc/task_mmu.c: the path begins in column 74. */
static void print_mapping(const struct guest_mapping *mapping, const char *path)
{
	char text[GUEST_PATH_BYTES + 16];
	int columns = printf("%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64
			     " %02" PRIx32 ":%02" PRIx32 " %" PRIu64 " ",
			     mapping->start.value, mapping->end.value, mapping->read ? 'r' : '-',
			     mapping->write ? 'w' : '-', mapping->execute ? 'x' : '-',
			     mapping->shared ? 's' : 'p', mapping->file_offset,
			     mapping->device_major, mapping->device_minor, mapping->inode);

	if (*path)
		printf("%*s%s", columns < 73 ? 73 - columns : 0, "",
		       guest_command_printable(path, text, sizeof(text)));
	putchar('\n');
}

static void write_build_id(struct json *json, const struct guest_build_id *id)
{
	char text[2 * GUEST_BUILD_ID_BYTES + 1];

	for (size_t i = 0; i < id->bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", id->data[i]);
	json_string(json, "build_id", id->bytes ? text : NULL);
}

static void write_mapping(struct json *json, const struct guest_mapping *mapping, const char *path)
{
	static const char *const kinds[] = { "anonymous", "file", "heap", "stack", "special" };

	json_open_object(json, NULL);
	json_unsigned(json, "start", mapping->start.value);
	json_unsigned(json, "end", mapping->end.value);
	json_bool(json, "read", mapping->read);
	json_bool(json, "write", mapping->write);
	json_bool(json, "execute", mapping->execute);
	json_bool(json, "shared", mapping->shared);
	json_string(json, "kind", kinds[mapping->kind]);
	json_unsigned(json, "file_offset", mapping->file_offset);
	json_unsigned(json, "device_major", mapping->device_major);
	json_unsigned(json, "device_minor", mapping->device_minor);
	json_unsigned(json, "inode", mapping->inode);
	json_string(json, "path", *path ? path : NULL);
	write_build_id(json, &mapping->build_id);
	json_close(json);
}

static void print_mappings(const struct guest_mappings *mappings, const struct intern *strings)
{
	for (size_t i = 0; i < mappings->items.count; i++)
		print_mapping(&mappings->items.items[i],
			      intern_string(strings, mappings->items.items[i].path));
}

static void write_mappings(struct json *json, const struct guest_mappings *mappings,
			   const struct intern *strings)
{
	json_open_array(json, "mappings");
	for (size_t i = 0; i < mappings->items.count; i++)
		write_mapping(json, &mappings->items.items[i],
			      intern_string(strings, mappings->items.items[i].path));
	json_close(json);
}

/* Shows the mappings of TASK, as JSON if JSON is set. Kernel threads have none, as in /proc. */
static struct error *show_task_maps(struct guest_view *view, const struct guest_task *task,
				    struct json *json)
{
	_cleanup_intern_ struct intern *strings = intern_create();
	struct guest_mappings mappings = { 0 };
	struct error *error = NULL;

	if (task->mm.value)
		error = guest_view_mappings(view, task->mm, strings, &mappings);
	if (error)
		return error;
	if (json)
		write_mappings(json, &mappings, strings);
	else
		print_mappings(&mappings, strings);
	if (mappings.cut)
		log_warning("some mappings of process %" PRIu32 " could not be read",
			    task->tgid);
	guest_mappings_deinit(&mappings);
	return NULL;
}

static struct error *find_task(const struct guest_tasks *tasks, uint64_t pid,
			       const struct guest_task **ret)
{
	*ret = guest_tasks_find(tasks, pid);
	return *ret ? NULL
		    : error_hint(error_create(ERROR_NOT_FOUND, "the guest has no process %" PRIu64,
					      pid),
				 "'perfvisor ps' without --maps lists them");
}

/* With several processes, each begins with a line "PID: NAME", as in pmap(1). */
static struct error *show_process_maps(const struct ps_config *config, struct guest_view *view,
				       const struct guest_task *task, struct json *json)
{
	struct error *error;

	if (json) {
		json_open_object(json, NULL);
		write_task(json, task);
	} else if (config->maps.count > 1) {
		char name[GUEST_TASK_NAME_BYTES];

		printf("%" PRIu32 ": %s\n", task->tgid,
		       guest_command_printable(task->name, name, sizeof(name)));
	}
	error = show_task_maps(view, task, json);
	if (json)
		json_close(json);
	return error;
}

/* Continues after a process that cannot be shown, but returns the first error. */
static struct error *show_maps(const struct ps_config *config, struct guest_view *view,
			       const struct guest_tasks *tasks, struct json *json)
{
	struct error *first = NULL;

	for (size_t i = 0; i < config->maps.count; i++) {
		const struct guest_task *task;
		struct error *error = find_task(tasks, config->maps.items[i], &task);

		if (!error)
			error = show_process_maps(config, view, task, json);
		if (!error)
			continue;
		if (first)
			error_destroy(error);
		else
			first = error;
	}
	return first;
}

static struct error *write_maps(const struct ps_config *config, struct guest_view *view,
				const struct guest_tasks *tasks)
{
	struct error *error;
	struct json json;

	json_init(&json, stdout);
	json_open_array(&json, NULL);
	error = show_maps(config, view, tasks, &json);
	json_close(&json);
	return error;
}

static struct error *show(const struct ps_config *config, struct guest_view *view)
{
	struct guest_tasks tasks;
	struct error *error = guest_view_tasks(
		view, config->threads || config->maps.count ? GUEST_THREADS : GUEST_PROCESSES,
		&tasks);

	if (error)
		return error;
	if (config->maps.count && config->json)
		error = write_maps(config, view, &tasks);
	else if (config->maps.count)
		error = show_maps(config, view, &tasks, NULL);
	else if (config->json)
		write_tasks(&tasks);
	else
		print_tasks(&tasks);
	guest_tasks_deinit(&tasks);
	return error;
}

static struct error *run_ps(const struct command *command, int argc, char **argv, int *ret_status)
{
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct ps_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (!error && !help)
		error = guest_command_open(config.vm, &view);
	if (!error && !help)
		error = show(&config, view);
	vector_deinit(&config.maps);
	return error;
}

const struct command command_ps = {
	.name = "ps",
	.summary = "List a guest's processes, read from its memory",
	.arguments = "",
	.options = ps_options,
	.examples = "  perfvisor ps --vm web1              # its processes\n"
		    "  perfvisor ps --vm web1 --maps 417   # the mappings of process 417\n",
	.run = run_ps,
};
