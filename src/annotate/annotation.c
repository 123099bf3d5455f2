/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate/annotation.h"

#include <string.h>

#include "base/memory.h"
#include "session/source_lines.h"

static const struct location *location_of(const struct annotation *annotation)
{
	return resolver_location(annotation->functions->resolver, annotation->samples->location);
}

/* A sample belongs to the instruction that covers its address, as in perf. */
static void add_samples(struct annotation *annotation)
{
	const struct function_samples *samples = annotation->samples;

	for (size_t i = 0; i < samples->addresses.count; i++) {
		const struct address_samples *at = &samples->addresses.items[i];
		size_t index = instructions_find(&annotation->instructions,
						 annotation->code.address + at->offset);

		if (index == annotation->instructions.items.count) {
			annotation->outside += at->count;
			continue;
		}
		annotation->items[index].period += at->period;
		annotation->items[index].count += at->count;
	}
}

static struct source_frames source_at(const struct annotation *annotation, uint64_t address)
{
	const struct location *location = location_of(annotation);
	struct session *session = annotation->functions->session;

	if (session->dsos.items.items[location->dso]->kind != DSO_KERNEL)
		return source_lines_of_file(session, location->dso, address);
	if (symbol_module(location->table, location->symbol))
		return (struct source_frames){ 0 };
	return source_lines_of_kernel(session, annotation->samples->machine,
				      annotation->samples->kernel, address);
}

static void add_text(const struct annotation *annotation, const struct source_frame *frame,
		     struct annotated_instruction *to)
{
	const char *path = intern_string(annotation->functions->session->strings, frame->file);

	to->line = frame->line;
	to->text = source_texts_line(annotation->functions->texts, path, frame->line,
				     &to->text_bytes);
}

/* Keeps what differs from the instruction before. */
static void add_places(struct annotation *annotation)
{
	uint64_t start = location_of(annotation)->symbol->start;
	struct annotated_instruction last = { 0 };

	for (size_t i = 0; i < annotation->instructions.items.count; i++) {
		uint64_t offset = annotation->instructions.items.items[i].address -
				  annotation->code.address;
		struct source_frames frames = source_at(annotation, start + offset);
		struct annotated_instruction *to = &annotation->items[i];

		if (!frames.count || !frames.items[0].place)
			continue;
		if (frames.items[0].function != last.function)
			to->function = frames.items[0].function;
		if (to->function || frames.items[0].place != last.place)
			to->place = frames.items[0].place;
		if (to->place)
			add_text(annotation, &frames.items[0], to);
		last.function = frames.items[0].function;
		last.place = frames.items[0].place;
	}
}

struct error *annotation_make(const struct functions_samples *functions, size_t index,
			      struct annotation *ret)
{
	const struct function_samples *samples = &functions->items.items[index];
	struct instruction_code code;
	struct error *error;

	*ret = (struct annotation){ .functions = functions, .samples = samples };
	error = function_code_find(functions->session, location_of(ret), samples->machine,
				   samples->kernel, &ret->code);
	if (error)
		return error;
	code = (struct instruction_code){ .machine = ret->code.machine,
					  .big_endian = ret->code.big_endian,
					  .bytes = ret->code.bytes.data,
					  .size = ret->code.bytes.size,
					  .address = ret->code.address };
	error = instructions_decode(&code, function_code_name, &ret->code, &ret->instructions);
	if (!error && !ret->instructions.items.count)
		error = error_create(ERROR_BAD_DATA, "its code has no instructions");
	if (error)
		return error;
	ret->items = memory_calloc(ret->instructions.items.count, sizeof(*ret->items));
	add_samples(ret);
	add_places(ret);
	return NULL;
}

void annotation_deinit(struct annotation *annotation)
{
	function_code_deinit(&annotation->code);
	instructions_deinit(&annotation->instructions);
	free(annotation->items);
}

double annotation_percent(const struct annotation *annotation, size_t index)
{
	uint64_t all = annotation->samples->period;

	return all ? 100.0 * annotation->items[index].period / all : 0;
}

size_t annotation_hottest(const struct annotation *annotation)
{
	size_t hottest = 0;

	for (size_t i = 1; i < annotation->instructions.items.count; i++)
		if (annotation->items[i].period > annotation->items[hottest].period)
			hottest = i;
	return hottest;
}

const char *annotation_symbol(const struct annotation *annotation)
{
	return resolver_symbol_name(annotation->functions->resolver,
				    annotation->samples->location);
}

const char *annotation_dso(const struct annotation *annotation)
{
	const struct functions_samples *functions = annotation->functions;

	return intern_string(functions->session->strings,
			     resolver_dso_name(functions->resolver,
					       annotation->samples->location));
}

const struct machine *annotation_vm(const struct annotation *annotation)
{
	const struct machine *machine = annotation->samples->machine;

	return machine_is_guest(machine) ? machine : NULL;
}
