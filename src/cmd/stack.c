/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor stack: what a guest's tasks wait for, by their kernel stacks in its memory. */
#include <inttypes.h>

#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/guest_command.h"
#include "host/guest_stacks.h"
#include "output/json.h"

struct stack_config {
	const char *vm;
	bool tasks, json;
};

#define FIELD(name) offsetof(struct stack_config, name)

static const struct option_spec stack_options[] = {
	{ OPTION_STRING, 0, "vm", FIELD(vm), "NAME|PID", "the VM (not needed if there is one)", 0,
	  0, COMPLETE_VM, NULL },
	{ OPTION_FLAG, 0, "tasks", FIELD(tasks), NULL,
	  "every thread of the guest that does not run" },
	{ OPTION_FLAG, 0, "json", FIELD(json), NULL, "print JSON" },
	{ 0 },
};

#define FUNCTION_BYTES 512

/* What a reader has before them. */
struct listing {
	const struct guest_tasks *tasks;
	const struct guest_stacks *stacks;
	const struct intern *strings;
};

/* The kernel's own form of it (%pB). */
static void print_place(const struct listing *listing, const struct guest_place *place)
{
	const char *function = intern_string(listing->strings, place->function);
	const char *module = intern_string(listing->strings, place->module);
	char text[FUNCTION_BYTES];

	if (!*function) {
		printf("%#" PRIx64, place->address);
		return;
	}
	printf("%s+%#" PRIx64 "/%#" PRIx64, guest_command_printable(function, text, sizeof(text)),
	       place->offset, place->bytes);
	if (*module)
		printf(" [%s]", guest_command_printable(module, text, sizeof(text)));
}

static void print_end(const struct listing *listing, const struct guest_stack *stack)
{
	static const char *const reasons[UNWIND_ENDS] = {
		[UNWIND_CUT] = "the stack goes on, at ",
		[UNWIND_NO_DATA] = "no unwind data for ",
		[UNWIND_UNREADABLE] = "leads out of the stack, to ",
		[UNWIND_NO_REGISTERS] = "needs registers that are not known: ",
		[UNWIND_REPLACED] = "return address replaced by ",
		[UNWIND_BAD] = "the stack leads backwards, to ",
		[UNWIND_TOO_DEEP] = "more frames than are shown",
	};

	if (stack->end == UNWIND_COMPLETE)
		return;
	printf("        (%s", reasons[stack->end]);
	if (stack->end != UNWIND_TOO_DEEP)
		print_place(listing, &stack->end_at);
	printf(")\n");
}

static void print_frames(const struct listing *listing, const struct guest_stack *stack)
{
	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct guest_stack_frame *frame =
			&listing->stacks->frames.items[stack->first_frame + i];

		if (frame->waiting)
			continue;
		printf("        ");
		print_place(listing, &frame->place);
		printf("%s%s\n", frame->call ? "" : " (interrupted)",
		       frame->guessed ? " (guessed)" : "");
	}
	print_end(listing, stack);
}

static void print_stacks(const struct listing *listing)
{
	static const char *const remarks[UNWIND_TASK_KINDS] = {
		[UNWIND_TASK_ASLEEP] = "",
		[UNWIND_TASK_RUNNING] = " (running)",
		[UNWIND_TASK_RESTLESS] = " (ran while it was read)",
		[UNWIND_TASK_DEAD] = " (no stack)",
	};
	bool first = true;

	for (size_t i = 0; i < listing->stacks->items.count; i++) {
		const struct guest_task *task = &listing->tasks->items.items[i];
		const struct guest_stack *stack = &listing->stacks->items.items[i];
		char name[GUEST_TASK_NAME_BYTES];

		if (!task->pid)
			continue; /* a CPU's idle task is no thread */
		printf("%s%" PRIu32 "/%" PRIu32 " %c %s%s%s%s\n", first ? "" : "\n", task->tgid,
		       task->pid, stack->state, task->kernel_thread ? "[" : "",
		       guest_command_printable(task->name, name, sizeof(name)),
		       task->kernel_thread ? "]" : "", remarks[stack->kind]);
		if (stack->kind == UNWIND_TASK_ASLEEP)
			print_frames(listing, stack);
		first = false;
	}
}

static void write_address(struct json *json, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, address);
	json_string(json, key, text);
}

static void write_frame(const struct listing *listing, struct json *json,
			const struct guest_stack_frame *frame)
{
	const struct guest_place *place = &frame->place;
	const char *function = intern_string(listing->strings, place->function);
	const char *module = intern_string(listing->strings, place->module);

	json_open_object(json, NULL);
	write_address(json, "address", place->address);
	json_string(json, "function", *function ? function : NULL);
	json_unsigned(json, "offset", place->offset);
	json_unsigned(json, "bytes", place->bytes);
	json_string(json, "module", *module ? module : NULL);
	json_bool(json, "interrupted", !frame->call);
	json_bool(json, "guessed", frame->guessed);
	json_bool(json, "waiting", frame->waiting);
	json_close(json);
}

static void write_chain(const struct listing *listing, struct json *json,
			const struct guest_stack *stack)
{
	static const char *const ends[UNWIND_ENDS] = {
		[UNWIND_COMPLETE] = "complete",
		[UNWIND_CUT] = "cut",
		[UNWIND_NO_DATA] = "no unwind data",
		[UNWIND_UNREADABLE] = "unreadable",
		[UNWIND_NO_REGISTERS] = "unknown registers",
		[UNWIND_REPLACED] = "replaced return address",
		[UNWIND_BAD] = "backwards",
		[UNWIND_TOO_DEEP] = "too deep",
	};

	json_string(json, "end", ends[stack->end]);
	if (stack->end_at.address)
		write_address(json, "end_address", stack->end_at.address);
	else
		json_null(json, "end_address");
	json_open_array(json, "frames");
	for (size_t i = 0; i < stack->frame_count; i++)
		write_frame(listing, json, &listing->stacks->frames.items[stack->first_frame + i]);
	json_close(json);
}

static void write_stacks(const struct listing *listing)
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
		const struct guest_task *task = &listing->tasks->items.items[i];
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
			write_chain(listing, &json, stack);
		json_close(&json);
	}
	json_close(&json);
}

static struct error *show(const struct stack_config *config, struct guest_view *view)
{
	_cleanup_intern_ struct intern *strings = intern_create();
	struct guest_stacks stacks;
	struct guest_tasks tasks;
	struct listing listing = { &tasks, &stacks, strings };
	struct error *error = guest_view_tasks(view, GUEST_THREADS, &tasks);

	if (error)
		return error;
	error = guest_stacks_read(view, tasks.items.items, tasks.items.count, strings, &stacks);
	if (!error) {
		if (config->json)
			write_stacks(&listing);
		else
			print_stacks(&listing);
		guest_stacks_deinit(&stacks);
	}
	guest_tasks_deinit(&tasks);
	return error;
}

static struct error *run_stack(const struct command *command, int argc, char **argv,
			       int *ret_status)
{
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct stack_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	if (!config.tasks)
		return error_hint(error_create(ERROR_USAGE, "stack needs --tasks"),
				  "the stacks of what vCPUs run at this moment are not shown yet");
	error = guest_command_open(config.vm, &view);
	return error ? error : show(&config, view);
}

const struct command command_stack = {
	.name = "stack",
	.summary = "Print what a guest's tasks wait for, by their kernel stacks",
	.arguments = "",
	.options = stack_options,
	.examples =
		"  perfvisor stack --vm web1 --tasks   # as every /proc/PID/stack in the guest\n",
	.run = run_stack,
};
