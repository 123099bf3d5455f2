/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The project's own JSON; its schema is in perfvisor-export(1). */
#include "export/formats.h"
#include "export/frame_table.h"
#include "output/json.h"
#include "output/view.h"

static void write_stack(struct json *json, const struct export_input *input,
			const struct export_stack *stack)
{
	uint32_t pid = stack_pid(stack);

	json_open_object(json, NULL);
	json_string(json, "vm", stack_vm(stack));
	if (stack->owner->vcpu == PERFDATA_NO_VCPU)
		json_null(json, "vcpu");
	else
		json_unsigned(json, "vcpu", stack->owner->vcpu);
	json_string(json, "process", stack_process(input, stack));
	if (pid == PROFILE_NO_PID)
		json_null(json, "pid");
	else
		json_unsigned(json, "pid", pid);
	json_string(json, "mode", view_mode_words(stack->cpumode));
	json_unsigned(json, "samples", stack->count);
	json_unsigned(json, "period", stack->period);
	json_open_array(json, "frames");
	for (size_t i = 0; i < stack->depth; i++)
		json_unsigned(json, NULL, stack->frames[i]);
	json_close(json);
	json_close(json);
}

struct error *export_json(FILE *out, const struct export_input *input)
{
	struct export_stack stack;
	struct stack_walk walk;
	struct json json;

	json_init(&json, out);
	json_open_object(&json, NULL);
	json_string(&json, "recording", input->path);
	json_string(&json, "event", input->profile->events[input->event].name);
	json_string(&json, "unit", stack_unit(input));
	frame_table_write(&json, input, true);
	json_open_array(&json, "stacks");
	stack_walk_init(&walk, input);
	while (stack_walk_next(&walk, &stack) && !ferror(out))
		write_stack(&json, input, &stack);
	stack_walk_deinit(&walk);
	json_close(&json);
	json_close(&json);
	return NULL;
}
