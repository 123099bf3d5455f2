/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope's format (github.com/jlfwong/speedscope, src/lib/file-format-spec.ts): frames, and
 * profiles of the type "sampled", each a list of stacks and a list of weights. There is a profile
 * for each VM and one for the host.
 */
#include "config.h"
#include "export/formats.h"
#include "export/frame_table.h"

/* The stacks of one VM; they are written before their weights. */
struct part {
	size_t begin, count; /* among all stacks */
	const struct machine *vm;
	uint64_t period;
};

struct writer {
	struct json json;
	const struct export_input *input;
	VECTOR(uint64_t) weights; /* of all stacks */
	VECTOR(struct part) parts;
};

static void find_parts(struct writer *writer)
{
	struct export_stack stack;
	struct stack_walk walk;

	stack_walk_init(&walk, writer->input);
	while (stack_walk_next(&walk, &stack)) {
		struct part *part;

		if (stack.first)
			vector_append(&writer->parts, (struct part){
							      .begin = writer->weights.count,
							      .vm = stack.owner->vm,
						      });
		part = &writer->parts.items[writer->parts.count - 1];
		part->count++;
		part->period += stack.period;
		vector_append(&writer->weights, stack.period);
	}
	stack_walk_deinit(&walk);
}

/* Takes the part's stacks from WALK, which is where they begin. */
static void write_part(struct writer *writer, const struct part *part, struct stack_walk *walk)
{
	struct json *json = &writer->json;
	bool times = *stack_unit(writer->input) == 'n';
	struct export_stack stack;

	json_open_object(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", part->vm ? part->vm->name : "host");
	json_string(json, "unit", times ? "nanoseconds" : "none");
	json_unsigned(json, "startValue", 0);
	json_unsigned(json, "endValue", part->period);
	json_open_array(json, "samples");
	for (size_t i = 0; i < part->count && stack_walk_next(walk, &stack); i++) {
		json_open_array(json, NULL);
		for (size_t j = 0; j < stack.depth; j++)
			json_unsigned(json, NULL, stack.frames[j]);
		json_close(json);
	}
	json_close(json);
	json_open_array(json, "weights");
	for (size_t i = 0; i < part->count; i++)
		json_unsigned(json, NULL, writer->weights.items[part->begin + i]);
	json_close(json);
	json_close(json);
}

struct error *export_speedscope(FILE *out, const struct export_input *input)
{
	struct writer writer = { .input = input };
	struct json *json = &writer.json;
	struct stack_walk walk;

	find_parts(&writer);
	json_init(json, out);
	json_open_object(json, NULL);
	json_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_string(json, "name", input->path);
	json_string(json, "exporter", "perfvisor " PERFVISOR_VERSION);
	json_open_object(json, "shared");
	frame_table_write(json, input, false);
	json_close(json);
	json_open_array(json, "profiles");
	stack_walk_init(&walk, input);
	for (size_t i = 0; i < writer.parts.count && !ferror(out); i++)
		write_part(&writer, &writer.parts.items[i], &walk);
	stack_walk_deinit(&walk);
	json_close(json);
	json_close(json);
	vector_deinit(&writer.weights);
	vector_deinit(&writer.parts);
	return NULL;
}
