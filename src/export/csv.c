/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table as of RFC 4180, with a line of titles. Every text is quoted. Names come from guests and
 * files: control characters are escaped, and what a spreadsheet would take for a formula has a ' in
 * front (OWASP, "CSV Injection"); some take the signs of full width, too. A leading tab or carriage
 * return is a control character.
 */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "export/formats.h"
#include "export/stack_walk.h"
#include "output/view.h"

struct writer {
	FILE *out;
	const struct export_input *input;
	struct buffer name, text; /* as it is, and escaped */
};

/* Appends NAME, escaped, to the text of the current cell. */
static void append_escaped(struct writer *writer, const char *name)
{
	utf8_append_escaped(&writer->text, name);
}

static bool is_formula(const struct buffer *text)
{
	static const char *const signs[] = { "=", "+", "-", "@",
					     "\uff1d", "\uff0b", "\uff0d", "\uff20" };

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (text->size >= strlen(signs[i]) &&
		    !memcmp(text->data, signs[i], strlen(signs[i])))
			return true;
	return false;
}

static void write_cell(struct writer *writer)
{
	const struct buffer *text = &writer->text;

	fputc('"', writer->out);
	if (is_formula(text))
		fputc('\'', writer->out);
	for (size_t i = 0; i < text->size; i++) {
		if (text->data[i] == '"')
			fputc('"', writer->out);
		fputc(text->data[i], writer->out);
	}
	fputs("\",", writer->out);
	buffer_clear(&writer->text);
}

static void write_text(struct writer *writer, const char *text)
{
	append_escaped(writer, text);
	write_cell(writer);
}

static void append_function(struct writer *writer, uint32_t frame)
{
	buffer_clear(&writer->name);
	stack_append_function(&writer->name, writer->input, frame);
	buffer_append_u8(&writer->name, 0);
	append_escaped(writer, (const char *)writer->name.data);
}

static void write_stack(struct writer *writer, const struct export_stack *stack)
{
	uint32_t leaf = stack->frames[stack->depth - 1], pid = stack_pid(stack);

	write_text(writer, stack_vm(stack) ? stack_vm(stack) : "");
	if (stack->owner->vcpu != PERFDATA_NO_VCPU)
		fprintf(writer->out, "%" PRIu32, stack->owner->vcpu);
	fputc(',', writer->out);
	write_text(writer, stack_process(writer->input, stack));
	if (pid != PROFILE_NO_PID)
		fprintf(writer->out, "%" PRIu32, pid);
	fputc(',', writer->out);
	write_text(writer, view_mode_words(stack->cpumode));
	write_text(writer, stack_module(writer->input, leaf));
	append_function(writer, leaf);
	write_cell(writer);
	for (size_t i = 0; i < stack->depth; i++) {
		if (i)
			buffer_append_u8(&writer->text, ';');
		append_function(writer, stack->frames[i]);
	}
	write_cell(writer);
	fprintf(writer->out, "%" PRIu64 ",%" PRIu64 "\r\n", stack->count, stack->period);
}

struct error *export_csv(FILE *out, const struct export_input *input)
{
	struct writer writer = { .out = out, .input = input };
	struct export_stack stack;
	struct stack_walk walk;

	buffer_init(&writer.name, (size_t)1 << 20);
	buffer_init(&writer.text, (size_t)64 << 20);
	fputs("vm,vcpu,process,pid,mode,module,function,stack,samples,period\r\n", out);
	stack_walk_init(&walk, input);
	while (stack_walk_next(&walk, &stack) && !ferror(out))
		write_stack(&writer, &stack);
	stack_walk_deinit(&walk);
	buffer_deinit(&writer.name);
	buffer_deinit(&writer.text);
	return NULL;
}
