/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor stack: what a guest is doing at this moment. Shows what its vCPUs run (stack_vcpus.c),
 * or what its other tasks wait for, from their kernel stacks in guest memory.
 */
#include <inttypes.h>

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/guest_command.h"
#include "cmd/stack/stack.h"
#include "host/inspect/vcpu_stacks.h"

struct stack_config {
	const char *vm;
	uint64_t vcpu;
	bool tasks, json;
};

#define MAX_VCPU 65535

#define FIELD(name) offsetof(struct stack_config, name)

static const struct option_spec stack_options[] = {
	{ OPTION_STRING, 0, "vm", FIELD(vm), "NAME|PID", "the VM (optional if there is only one)",
	  0, 0, COMPLETE_VM, NULL },
	{ OPTION_UNSIGNED, 0, "vcpu", FIELD(vcpu), "N", "only what this vCPU runs", 0, MAX_VCPU },
	{ OPTION_FLAG, 0, "tasks", FIELD(tasks), NULL,
	  "show every thread of the guest that is not running instead" },
	{ OPTION_FLAG, 0, "json", FIELD(json), NULL, "print JSON" },
	{ 0 },
};

static void print_stacks(const struct guest_tasks *tasks, const struct stack_listing *listing)
{
	static const char *const remarks[UNWIND_TASK_KINDS] = {
		[UNWIND_TASK_ASLEEP] = "",
		[UNWIND_TASK_RUNNING] = " (running)",
		[UNWIND_TASK_RESTLESS] = " (ran while being read)",
		[UNWIND_TASK_DEAD] = " (no stack)",
	};
	bool first = true;

	for (size_t i = 0; i < listing->stacks->items.count; i++) {
		const struct guest_task *task = &tasks->items.items[i];
		const struct guest_stack *stack = &listing->stacks->items.items[i];
		char name[GUEST_TASK_NAME_BYTES];

		if (!task->pid)
			continue; /* a CPU's idle task is not a thread */
		printf("%s%" PRIu32 "/%" PRIu32 " %c %s%s%s%s\n", first ? "" : "\n", task->tgid,
		       task->pid, stack->state, task->kernel_thread ? "[" : "",
		       guest_command_printable(task->name, name, sizeof(name)),
		       task->kernel_thread ? "]" : "", remarks[stack->kind]);
		if (stack->kind == UNWIND_TASK_ASLEEP)
			stack_print_chain(listing, stack);
		first = false;
	}
}

static void write_stacks(const struct guest_tasks *tasks, const struct stack_listing *listing)
{
	static const char *const kinds[UNWIND_TASK_KINDS] = {
		[UNWIND_TASK_ASLEEP] = "asleep",
		[UNWIND_TASK_RUNNING] = "running",
		[UNWIND_TASK_RESTLESS] = "restless",
		[UNWIND_TASK_DEAD] = "no stack",
	};
	struct json json;

	json_init(&json, stdout);
	json_open_array(&json, NULL);
	for (size_t i = 0; i < listing->stacks->items.count; i++) {
		const struct guest_task *task = &tasks->items.items[i];
		const struct guest_stack *stack = &listing->stacks->items.items[i];

		if (!task->pid)
			continue;
		json_open_object(&json, NULL);
		json_unsigned(&json, "pid", task->tgid);
		json_unsigned(&json, "tid", task->pid);
		json_string(&json, "comm", task->name);
		json_bool(&json, "kernel_thread", task->kernel_thread);
		json_string(&json, "state", (char[]){ stack->state, 0 });
		json_string(&json, "stack", kinds[stack->kind]);
		if (stack->kind == UNWIND_TASK_ASLEEP)
			stack_write_chain(listing, &json, stack);
		json_close(&json);
	}
	json_close(&json);
}

static struct error *show_tasks(const struct stack_config *config, struct guest_view *view)
{
	_cleanup_intern_ struct intern *strings = intern_create();
	struct guest_stacks stacks;
	struct guest_tasks tasks;
	struct stack_listing listing = { &stacks, strings, .waiting_hidden = true };
	struct error *error = guest_view_tasks(view, GUEST_THREADS, &tasks);

	if (error)
		return error;
	error = guest_stacks_read(view, tasks.items.items, tasks.items.count, strings, &stacks);
	if (!error) {
		if (config->json)
			write_stacks(&tasks, &listing);
		else
			print_stacks(&tasks, &listing);
		guest_stacks_deinit(&stacks);
	}
	guest_tasks_deinit(&tasks);
	return error;
}

static struct error *run_stack(const struct command *command, int argc, char **argv,
			       int *ret_status)
{
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct stack_config config = { .vcpu = VCPU_STACKS_ALL };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	if (!config.tasks)
		return stack_show_vcpus(config.vm, config.vcpu, config.json);
	if (config.vcpu != VCPU_STACKS_ALL)
		return error_create(ERROR_USAGE, "--tasks and --vcpu exclude each other");
	error = guest_command_open(config.vm, &view);
	return error ? error : show_tasks(&config, view);
}

const struct command command_stack = {
	.name = "stack",
	.summary = "Show what a guest's vCPUs run, or what its tasks wait for",
	.arguments = "",
	.options = stack_options,
	.examples =
		"  perfvisor stack --vm web1            # what each vCPU runs at this moment\n"
		"  perfvisor stack --vm web1 --vcpu 0   # one of them\n"
		"  perfvisor stack --vm web1 --tasks    # like all /proc/PID/stack in the guest\n",
	.run = run_stack,
};
