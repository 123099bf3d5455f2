/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of `perf script` (tools/perf/builtin-script.c, process_event(), and
 * util/evsel_fprintf.c). Without a call chain a sample is one line:
 *
 *	            comm   tid [cpu] time:     period event:  ip symbol+offset (dso)
 *
 * with one, the line ends behind the event, a line for each frame follows, the innermost
 * first, then an empty line. Frames of user code show the address in the file, as perf does.
 *
 * What follows from an address alone, which is most of the text, is made once and kept with
 * the resolver's answer; numbers are formatted by hand.
 */
#include "output/script_text.h"

#include <endian.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "output/escape.h"
#include "output/script_event.h"
#include "output/stream.h"
#include "output/tracepoint.h"
#include "profile/chain.h"
#include "profile/context.h"
#include "profile/ordered.h"
#include "profile/resolver.h"

#define ADDRESS_FIELDS (SCRIPT_SYMBOL | SCRIPT_OFFSET | SCRIPT_DSO)
#define MAX_STACK 127			 /* PERF_MAX_STACK_DEPTH */
#define TEXTS_MAX_BYTES (256 * 1024 * 1024) /* kept; past that text is made anew */

struct frame;

struct writer {
	struct output_stream stream;
	struct session *session;
	struct script_event *events;
	struct context_cache *contexts;
	struct resolver *resolver;
	struct tracepoints *tracepoints;
	struct buffer texts; /* kept text: a length (u32), then the text; tag - 1 is its place */
	struct map comm_tags[2]; /* comm -> tag, padded and not */
	struct buffer scratch;
	struct frame *frames; /* room for max_stack */
	size_t max_stack;
	uint32_t kept_fields; /* the text of addresses is kept for events with these */
};

/* At least WIDTH characters, FILL before the digits. */
static inline char *put_padded(char *at, uint64_t value, int width, char fill)
{
	char digits[20];
	int count = 0;

	do {
		digits[count++] = '0' + value % 10;
		value /= 10;
	} while (value);
	for (; width > count; width--)
		*at++ = fill;
	while (count)
		*at++ = digits[--count];
	return at;
}

/* As %Nd of a number that perf holds as int: -1 is "not known". */
static inline char *put_int(char *at, uint32_t value, int width)
{
	if (value <= INT32_MAX)
		return put_padded(at, value, width, ' ');
	return at + snprintf(at, 12 + width, "%*d", width, (int)value);
}

/* Keeps what is in the scratch; 0 if there is no room any more. */
static uint32_t keep_scratch(struct writer *writer)
{
	uint32_t tag = writer->texts.size + 1;

	if (writer->texts.size + sizeof(uint32_t) + writer->scratch.size > TEXTS_MAX_BYTES)
		return 0;
	buffer_append_u32(&writer->texts, writer->scratch.size);
	buffer_append(&writer->texts, writer->scratch.data, writer->scratch.size);
	return tag;
}

static void put_kept(struct writer *writer, uint32_t tag)
{
	const uint8_t *kept = writer->texts.data + tag - 1;
	uint32_t length;

	memcpy(&length, kept, sizeof(length));
	buffer_append(&writer->stream.buffer, kept + sizeof(length), length);
}

static void append_symbol(struct writer *writer, const struct resolved *resolved, bool offset)
{
	const char *name = resolver_symbol_name(writer->resolver, resolved->location);
	struct buffer *text = &writer->scratch;

	if (!name) {
		buffer_append_string(text, "[unknown]");
		return;
	}
	output_append_escaped(text, name);
	if (offset)
		buffer_printf(text, "+0x%" PRIx64,
			      resolved->address -
				      resolver_symbol_start(writer->resolver, resolved->location));
}

/* " symbol+offset (dso)" into the scratch, as far as FIELDS want it. */
static void make_name(struct writer *writer, const struct resolved *resolved, uint32_t fields)
{
	struct buffer *text = &writer->scratch;

	buffer_clear(text);
	if (fields & SCRIPT_SYMBOL) {
		buffer_append_u8(text, ' ');
		append_symbol(writer, resolved, fields & SCRIPT_OFFSET);
	}
	if (fields & SCRIPT_DSO) {
		buffer_append_string(text, " (");
		output_append_escaped(text, resolver_dso_path(writer->resolver,
							      resolved->location));
		buffer_append_u8(text, ')');
	}
	buffer_append_u8(text, '\n');
}

/* An address that is looked up, on its way to text. */
struct frame {
	struct lookup lookup;
	struct resolved resolved; /* its tag's place is valid until the next lookup only */
	uint32_t tag;
};

static void write_name(struct writer *writer, struct frame *frame, uint32_t fields)
{
	/* Events may differ in their fields: text is kept for those that are like the first. */
	bool keeps = (fields & ADDRESS_FIELDS) == writer->kept_fields;

	if (keeps && frame->tag) {
		put_kept(writer, frame->tag);
		return;
	}
	make_name(writer, &frame->resolved, fields);
	if (keeps)
		*resolver_finish(writer->resolver, &frame->lookup).tag = keep_scratch(writer);
	buffer_append(&writer->stream.buffer, writer->scratch.data, writer->scratch.size);
}

/* The eight hexadecimal digits of VALUE, the highest in the lowest byte. */
static inline uint64_t hex_digits(uint32_t value)
{
	uint64_t digits = value;

	/* A digit to each byte, then '0' or 'a' - 10 is added to all of them at once. */
	digits = (digits | digits << 16) & 0x0000ffff0000ffffULL;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ffULL;
	digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0fULL;
	digits += 0x3030303030303030ULL +
		  ((digits + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL) * ('a' - '0' - 10);
	return __builtin_bswap64(digits);
}

/* As %16lx. */
static inline void put_address(char *at, uint64_t address)
{
	uint64_t words[2] = { htole64(hex_digits(address >> 32)), htole64(hex_digits(address)) };
	int blanks = __builtin_clzll(address | 1) / 4;

	memcpy(at, words, sizeof(words));
	memset(at, ' ', blanks);
}

/* Room for COUNT bytes at the end of OUT, which the caller need not use; NULL past its maximum. */
static inline char *reserve(struct buffer *out, size_t count)
{
	if (out->capacity - out->size < count) {
		if (!buffer_extend(out, count))
			return NULL;
		out->size -= count;
	}
	return (char *)out->data + out->size;
}

/* BEFORE, the address and the name of FRAME. */
static void write_address(struct writer *writer, struct frame *frame, char before,
			  uint64_t address, uint32_t fields)
{
	struct buffer *out = &writer->stream.buffer;
	char *at = reserve(out, 1 + 16);

	if (!at)
		return;
	*at = before;
	put_address(at + 1, address);
	out->size += 1 + 16;
	write_name(writer, frame, fields);
}

static void write_line(struct writer *writer, const struct session_sample *sample,
		       const struct context *context, uint32_t fields)
{
	uint64_t ip = sample->decoded.sample.ip;
	struct frame frame;

	resolver_begin(writer->resolver, context->machine, context->space, ip, sample->time,
		       &frame.lookup);
	frame.resolved = resolver_finish(writer->resolver, &frame.lookup);
	frame.tag = *frame.resolved.tag;
	write_address(writer, &frame, ' ', ip, fields);
}

/* The addresses of a chain and where to look each up; gives how many. */
static size_t begin_chain(struct writer *writer, const struct session_sample *sample,
			  const struct context *context)
{
	const struct perfdata_sample *values = &sample->decoded.sample;
	struct chain_place place;
	size_t count = 0;

	chain_enter(writer->session, sample, context, PERF_CONTEXT_USER, &place);
	for (uint64_t i = 0; i < values->callchain_count && count < writer->max_stack; i++) {
		uint64_t ip = values->callchain[i];

		if (chain_is_mark(ip)) {
			chain_enter(writer->session, sample, context, ip, &place);
			continue;
		}
		resolver_begin(writer->resolver, place.machine, place.space, ip, sample->time,
			       &writer->frames[count++].lookup);
	}
	return count;
}

static void write_chain(struct writer *writer, const struct session_sample *sample,
			const struct context *context, uint32_t fields)
{
	struct frame *frames = writer->frames;
	size_t count;

	if (!chain_is_sound(writer->session, &sample->decoded.sample))
		return;
	count = begin_chain(writer, sample, context);
	for (size_t i = 0; i < count; i++) {
		frames[i].resolved = resolver_finish(writer->resolver, &frames[i].lookup);
		frames[i].tag = *frames[i].resolved.tag;
		if (frames[i].tag)
			__builtin_prefetch(writer->texts.data + frames[i].tag - 1);
	}
	for (size_t i = 0; i < count; i++)
		/* Of user code the address in the file is shown; a kernel's is as it is. */
		write_address(writer, &frames[i], '\t', frames[i].resolved.address, fields);
}

/* The thread's name as of now, right-aligned to 16 with PADDED. */
static void make_comm(struct writer *writer, const struct context *context, bool padded)
{
	struct buffer *text = &writer->scratch;
	char unnamed[16];
	const char *comm = unnamed;

	if (context->comm == TIMELINE_NO_COMM)
		snprintf(unnamed, sizeof(unnamed), ":%d", (int)context->tid);
	else
		comm = intern_string(writer->session->strings, context->comm);
	buffer_clear(text);
	for (size_t length = strlen(comm); padded && length < 16; length++)
		buffer_append_u8(text, ' ');
	output_append_escaped(text, comm);
	buffer_append_u8(text, ' ');
}

static void write_comm(struct writer *writer, const struct context *context, bool padded)
{
	uint64_t *tag = NULL;

	if (context->comm != TIMELINE_NO_COMM) {
		tag = map_insert(&writer->comm_tags[padded], context->comm, NULL);
		if (*tag) {
			put_kept(writer, *tag);
			return;
		}
	}
	make_comm(writer, context, padded);
	if (tag)
		*tag = keep_scratch(writer);
	buffer_append(&writer->stream.buffer, writer->scratch.data, writer->scratch.size);
}

/* "   12/13 [001] " */
static char *put_thread(char *at, const struct perfdata_sample *values, uint32_t fields)
{
	if (fields & SCRIPT_PID)
		at = put_int(at, values->pid, 5);
	if ((fields & SCRIPT_PID) && (fields & SCRIPT_TID)) {
		char *start;

		*at++ = '/';
		start = at;
		at = put_int(at, values->tid, 0);
		while (at < start + 5)
			*at++ = ' ';
	} else if (fields & SCRIPT_TID) {
		at = put_int(at, values->tid, 5);
	}
	if (fields & (SCRIPT_PID | SCRIPT_TID))
		*at++ = ' ';
	if (fields & SCRIPT_CPU) {
		*at++ = '[';
		at = put_padded(at, values->cpu, 3, '0');
		*at++ = ']';
		*at++ = ' ';
	}
	return at;
}

/* "  1421.753052: ": seconds and microseconds, cut off. */
static char *put_time(char *at, uint64_t time_ns)
{
	at = put_padded(at, time_ns / 1000000000, 5, ' ');
	*at++ = '.';
	at = put_padded(at, time_ns % 1000000000 / 1000, 6, '0');
	*at++ = ':';
	*at++ = ' ';
	return at;
}

static void write_machine(struct writer *writer, const struct session_sample *sample,
			  uint32_t fields)
{
	const struct perfdata_id *id = sample->decoded.id;

	if (!id || !id->machine_pid)
		return;
	if (fields & SCRIPT_MACHINE_PID)
		buffer_printf(&writer->stream.buffer, "VM:%5d ", (int)id->machine_pid);
	if (fields & SCRIPT_VCPU)
		buffer_printf(&writer->stream.buffer, "VCPU:%03d ", (int)id->vcpu);
}

/* Everything before the address. */
static void write_start(struct writer *writer, const struct session_sample *sample,
			const struct context *context, const struct script_event *event)
{
	const struct perfdata_sample *values = &sample->decoded.sample;
	struct buffer *out = &writer->stream.buffer;
	uint32_t fields = event->fields;
	char text[160], *at = text;

	if (fields & (SCRIPT_MACHINE_PID | SCRIPT_VCPU))
		write_machine(writer, sample, fields);
	if (fields & SCRIPT_COMM)
		write_comm(writer, context, !(event->chains && (fields & SCRIPT_IP)));
	at = put_thread(at, values, fields);
	if (fields & SCRIPT_TIME)
		at = put_time(at, values->time_ns);
	if (fields & SCRIPT_PERIOD) {
		at = put_padded(at, values->period, 10, ' ');
		*at++ = ' ';
	}
	buffer_append(out, text, at - text);
	if (fields & SCRIPT_EVENT)
		buffer_append(out, event->name, event->name_bytes);
	if ((fields & SCRIPT_TRACE) && writer->tracepoints)
		tracepoints_append(writer->tracepoints, sample, out);
}

static void write_sample(struct writer *writer, const struct session_sample *sample)
{
	const struct script_event *event = &writer->events[sample->decoded.event_index];
	const struct context *context = context_find(writer->contexts, sample);
	struct buffer *out = &writer->stream.buffer;

	write_start(writer, sample, context, event);
	if (!(event->fields & SCRIPT_IP)) {
		buffer_append_u8(out, '\n');
	} else if (event->chains) {
		buffer_append_u8(out, '\n');
		write_chain(writer, sample, context, event->fields);
		buffer_append_u8(out, '\n');
	} else {
		write_line(writer, sample, context, event->fields);
	}
}

static void write_all(struct writer *writer)
{
	struct ordered *ordered = ordered_create(writer->session);
	struct session_sample sample;

	while (ordered_next(ordered, &sample) == PERFDATA_RECORD) {
		if (sample.valid)
			write_sample(writer, &sample);
		if (!output_stream_line(&writer->stream))
			break;
	}
	ordered_destroy(ordered);
}

struct error *script_text_write(int fd, struct session *session, const struct script_fields *fields)
{
	struct writer writer = { .session = session };
	size_t event_count = perfdata_reader_event_count(session->reader);
	struct error *error = script_events_create(session, fields, &writer.events);

	if (!error)
		error = tracepoints_create(session, writer.events, &writer.tracepoints);
	if (error) {
		script_events_destroy(writer.events, event_count);
		return error;
	}
	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.texts, TEXTS_MAX_BYTES);
	buffer_init(&writer.scratch, 1024 * 1024);
	map_init(&writer.comm_tags[0]);
	map_init(&writer.comm_tags[1]);
	writer.kept_fields = event_count ? writer.events[0].fields & ADDRESS_FIELDS : 0;
	writer.max_stack = fields->max_stack ? fields->max_stack : MAX_STACK;
	writer.frames = memory_calloc(writer.max_stack, sizeof(*writer.frames));
	writer.resolver = resolver_create(session);
	writer.contexts = memory_alloc(sizeof(*writer.contexts));
	context_cache_init(writer.contexts, session);
	write_all(&writer);
	free(writer.contexts);
	free(writer.frames);
	resolver_destroy(writer.resolver);
	map_deinit(&writer.comm_tags[0]);
	map_deinit(&writer.comm_tags[1]);
	buffer_deinit(&writer.texts);
	buffer_deinit(&writer.scratch);
	tracepoints_destroy(writer.tracepoints);
	script_events_destroy(writer.events, event_count);
	return output_stream_finish(&writer.stream);
}
