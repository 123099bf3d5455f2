/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's format: a protobuf message, compressed as gzip does. Numbers of messages and fields:
 * github.com/google/pprof, proto/profile.proto. Each function is one location, at its start in its
 * file. Whose samples they are is in labels: vm, vcpu, process, pid, mode.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "export/formats.h"
#include "export/stack_walk.h"
#include "output/view.h"

enum { VARINT = 0, BYTES = 2 };

/* Fields of Profile. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD_OF,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
};

#define MESSAGE_MAX_BYTES ((size_t)1 << 20)
#define STEP_BYTES 65536
#define GZIP_WINDOW (16 + 15) /* zlib.h: gzip's header, the largest window */

struct writer {
	FILE *out;
	const struct export_input *input;
	struct intern *strings; /* the string table: number 0 is "" */
	struct buffer message, inner, name;
	struct map mapping_ids; /* dso name -> id, from 1 on */
	z_stream zip;
};

static void put_varint(struct buffer *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buffer_append_u8(out, value | 0x80);
	buffer_append_u8(out, value);
}

static void put_number(struct buffer *out, unsigned int field, uint64_t value)
{
	put_varint(out, field << 3 | VARINT);
	put_varint(out, value);
}

static void put_bytes(struct buffer *out, unsigned int field, const void *data, size_t size)
{
	put_varint(out, field << 3 | BYTES);
	put_varint(out, size);
	buffer_append(out, data, size);
}

static uint64_t string_of(struct writer *writer, const char *text)
{
	return intern_text(writer->strings, text);
}

static void compress_bytes(struct writer *writer, const void *data, size_t size, int flush)
{
	unsigned char room[STEP_BYTES];

	writer->zip.next_in = (unsigned char *)data;
	writer->zip.avail_in = size;
	do {
		writer->zip.next_out = room;
		writer->zip.avail_out = sizeof(room);
		deflate(&writer->zip, flush);
		fwrite(room, 1, sizeof(room) - writer->zip.avail_out, writer->out);
	} while (!writer->zip.avail_out);
}

/* Writes the message as FIELD of the profile, and clears it. */
static void write_message(struct writer *writer, unsigned int field)
{
	struct buffer *head = &writer->inner;

	buffer_clear(head);
	put_varint(head, field << 3 | BYTES);
	put_varint(head, writer->message.size);
	compress_bytes(writer, head->data, head->size, Z_NO_FLUSH);
	compress_bytes(writer, writer->message.data, writer->message.size, Z_NO_FLUSH);
	buffer_clear(&writer->message);
}

static void write_number(struct writer *writer, unsigned int field, uint64_t value)
{
	put_number(&writer->message, field, value);
	compress_bytes(writer, writer->message.data, writer->message.size, Z_NO_FLUSH);
	buffer_clear(&writer->message);
}

static void write_value_type(struct writer *writer, unsigned int field, const char *type,
			     const char *unit)
{
	put_number(&writer->message, 1, string_of(writer, type));
	put_number(&writer->message, 2, string_of(writer, unit));
	write_message(writer, field);
}

static void put_label(struct writer *writer, const char *key, const char *text)
{
	buffer_clear(&writer->inner);
	put_number(&writer->inner, 1, string_of(writer, key));
	put_number(&writer->inner, 2, string_of(writer, text));
	put_bytes(&writer->message, 3, writer->inner.data, writer->inner.size);
}

/* As text, because pprof drops a label whose number is 0. */
static void put_number_label(struct writer *writer, const char *key, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, number);
	put_label(writer, key, text);
}

static void put_labels(struct writer *writer, const struct export_stack *stack)
{
	const char *process = stack_process(writer->input, stack);

	if (stack_vm(stack))
		put_label(writer, "vm", stack_vm(stack));
	if (stack->owner->vcpu != PERFDATA_NO_VCPU)
		put_number_label(writer, "vcpu", stack->owner->vcpu);
	if (*process)
		put_label(writer, "process", process);
	if (stack_pid(stack) != PROFILE_NO_PID)
		put_number_label(writer, "pid", stack_pid(stack));
	put_label(writer, "mode", view_mode_words(stack->cpumode));
}

/* The innermost location is the first; a location's id is its frame + 1. */
static void write_stack(struct writer *writer, const struct export_stack *stack)
{
	buffer_clear(&writer->inner);
	for (size_t i = stack->depth; i--;)
		put_varint(&writer->inner, stack->frames[i] + 1ULL);
	put_bytes(&writer->message, 1, writer->inner.data, writer->inner.size);
	buffer_clear(&writer->inner);
	put_varint(&writer->inner, stack->count);
	put_varint(&writer->inner, stack->period);
	put_bytes(&writer->message, 2, writer->inner.data, writer->inner.size);
	put_labels(writer, stack);
	write_message(writer, PROFILE_SAMPLE);
}

static void write_stacks(struct writer *writer)
{
	struct export_stack stack;
	struct stack_walk walk;

	stack_walk_init(&walk, writer->input);
	while (stack_walk_next(&walk, &stack) && !ferror(writer->out))
		write_stack(writer, &stack);
	stack_walk_deinit(&walk);
}

static void write_mapping(struct writer *writer, uint64_t id, uint32_t location,
			  const char *name)
{
	struct buffer *message = &writer->message;

	put_number(message, 1, id);
	put_number(message, 3, UINT64_MAX); /* it ends there, and begins at 0 */
	put_number(message, 5, string_of(writer, name));
	buffer_clear(&writer->name);
	stack_append_build_id(&writer->name, writer->input, location);
	if (writer->name.size) {
		buffer_append_u8(&writer->name, 0);
		put_number(message, 6, string_of(writer, (const char *)writer->name.data));
	}
	put_number(message, 7, true); /* functions are known: nothing is to be looked up */
	write_message(writer, PROFILE_MAPPING);
}

/* The id of the mapping that LOCATION is in, which is written if it is new. */
static uint64_t find_mapping(struct writer *writer, uint32_t number)
{
	struct resolver *resolver = writer->input->profile->resolver;
	uint32_t name = resolver_dso_name(resolver, number);
	uint64_t *id = map_insert(&writer->mapping_ids, name, NULL);

	if (!*id) {
		*id = writer->mapping_ids.count;
		write_mapping(writer, *id, number, resolver_dso_path(resolver, number));
	}
	return *id;
}

static void write_function(struct writer *writer, uint32_t frame)
{
	struct buffer *message = &writer->message;
	uint64_t name;

	buffer_clear(&writer->name);
	stack_append_function(&writer->name, writer->input, frame);
	buffer_append_u8(&writer->name, 0);
	name = string_of(writer, (const char *)writer->name.data);
	put_number(message, 1, frame + 1ULL);
	put_number(message, 2, name);
	put_number(message, 3, name);
	put_number(message, 4, string_of(writer, stack_module(writer->input, frame)));
	write_message(writer, PROFILE_FUNCTION);
}

static void write_location(struct writer *writer, uint32_t frame)
{
	const struct profile *profile = writer->input->profile;
	uint32_t number = profile->tree->frames.items[frame].location;
	uint64_t mapping = find_mapping(writer, number);
	struct buffer *message = &writer->message;

	put_number(message, 1, frame + 1ULL);
	put_number(message, 2, mapping);
	put_number(message, 3, resolver_location(profile->resolver, number)->address);
	buffer_clear(&writer->inner);
	put_number(&writer->inner, 1, frame + 1ULL);
	put_bytes(message, 4, writer->inner.data, writer->inner.size);
	write_message(writer, PROFILE_LOCATION);
}

/* Strings must be valid UTF-8. */
static void write_strings(struct writer *writer)
{
	for (uint32_t i = 0; i < intern_count(writer->strings); i++) {
		utf8_append_escaped(&writer->message, intern_string(writer->strings, i));
		write_message(writer, PROFILE_STRING_TABLE);
	}
}

static void write_profile(struct writer *writer)
{
	const struct profile *profile = writer->input->profile;
	const char *name = profile->events[writer->input->event].name;
	const char *unit = stack_unit(writer->input);

	string_of(writer, "");
	write_value_type(writer, PROFILE_SAMPLE_TYPE, "samples", "count");
	write_value_type(writer, PROFILE_SAMPLE_TYPE, name, unit);
	write_stacks(writer);
	for (uint32_t i = 0; i < profile->tree->frames.count; i++) {
		write_location(writer, i);
		write_function(writer, i);
	}
	write_value_type(writer, PROFILE_PERIOD_TYPE, name, unit);
	write_number(writer, PROFILE_PERIOD_OF, 1);
	write_number(writer, PROFILE_DEFAULT_SAMPLE_TYPE, string_of(writer, name));
	write_strings(writer);
}

/* For zlib, which then does not fail. */
static void *allocate(void *unused, unsigned int count, unsigned int size)
{
	(void)unused;
	return memory_calloc(count, size);
}

static void release(void *unused, void *memory)
{
	(void)unused;
	free(memory);
}

struct error *export_pprof(FILE *out, const struct export_input *input)
{
	struct writer writer = { .out = out, .input = input };

	writer.zip.zalloc = allocate;
	writer.zip.zfree = release;
	deflateInit2(&writer.zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
		     Z_DEFAULT_STRATEGY);
	writer.strings = intern_create();
	map_init(&writer.mapping_ids);
	buffer_init(&writer.message, MESSAGE_MAX_BYTES);
	buffer_init(&writer.inner, MESSAGE_MAX_BYTES);
	buffer_init(&writer.name, MESSAGE_MAX_BYTES);
	write_profile(&writer);
	compress_bytes(&writer, NULL, 0, Z_FINISH);
	deflateEnd(&writer.zip);
	buffer_deinit(&writer.message);
	buffer_deinit(&writer.inner);
	buffer_deinit(&writer.name);
	map_deinit(&writer.mapping_ids);
	intern_destroy(writer.strings);
	return NULL;
}
