/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of `perf script` (tools/perf/builtin-script.c, process_event(), and
 * util/evsel_fprintf.c). A sample without a call chain is one line:
 *
 *              comm   tid [cpu] time:     period event:  ip symbol+offset (dso)
 *
 * With a call chain the line ends after the event. It is followed by a line for each frame,
 * innermost first, and an empty line. Frames of user code show the address in the file, as in perf.
 *
 * Text that depends only on an address, which is most of it, is generated once and kept with the
 * resolver's answer. Both are scattered over memory, so the addresses of a batch of samples are
 * looked up together, and one is prefetched while others are processed.
 */
#include "output/script/script_text.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "output/script/script_address.h"
#include "output/script/script_event.h"
#include "output/script/script_extra.h"
#include "output/script/script_number.h"
#include "output/script/script_records.h"
#include "output/script/script_time.h"
#include "output/stream.h"
#include "output/tracepoint.h"
#include "session/chain.h"
#include "session/context.h"
#include "session/ordered.h"
#include "session/resolver.h"
#include "session/user_chain.h"

/* What stands before a record that is not a sample. */
#define RECORD_FIELDS                                                                              \
	(SCRIPT_MACHINE_PID | SCRIPT_VCPU | SCRIPT_COMM | SCRIPT_PID | SCRIPT_TID | SCRIPT_CPU |   \
	 SCRIPT_MOMENT)
#define ADDRESS_FIELDS (SCRIPT_SYMBOL | SCRIPT_OFFSET | SCRIPT_DSO | SCRIPT_SOURCE)
#define GUESSED " ?"			 /* precedes a guessed name: VIEW_GUESSED */
#define MAX_STACK 127			 /* PERF_MAX_STACK_DEPTH */
/* kept text; beyond this, text is generated again each time */
#define TEXTS_MAX_BYTES (256 * 1024 * 1024)
#define HEADS_MAX_BYTES (64 * 1024 * 1024)

/* Samples in a batch. It may have more frames, by one chain. */
#define BATCH 32
#define BATCH_FRAMES 64

/* An address that is being converted to text. */
struct frame {
	struct lookup lookup;
	uint64_t shown; /* the address as printed */
	uint32_t location, tag;
	bool guessed, chain; /* chain: it is of one */
};

/* A sample that is being converted to text: where its part of the batch's heads and frames ends. */
struct pending {
	size_t head_end, frame_end;
	size_t tail_start; /* within the head: from here on it stands after the addresses */
	uint32_t fields;
	bool chain;
};

struct writer {
	struct output_stream stream;
	struct session *session;
	struct script_event *events;
	struct context_cache *contexts;
	struct user_chains *user_chains;
	struct resolver *resolver;
	struct tracepoints *tracepoints;
	struct script_extra extra;
	struct script_times times;
	struct script_records records;
	uint32_t record_types; /* of those that are printed besides samples */
	struct buffer texts; /* kept text: a length (u32) and the text, at offset tag - 1 */
	struct map comm_tags[2]; /* comm -> tag, padded and not */
	struct buffer scratch;
	struct pending pending[BATCH];
	size_t pending_count, frame_count;
	struct buffer heads;  /* the text before the addresses of the pending samples */
	struct frame *frames; /* of the pending samples; room for BATCH_FRAMES + 2 * max_stack */
	size_t max_stack; /* of a chain as it was recorded, and of the part added to it */
	uint32_t kept_fields; /* text of addresses is kept only for events with these fields … */
	bool kept_chain;      /* … and chains, or no chains */
	bool inlined;	      /* chains show inlined functions */
	struct filtering filtering; /* without a filter it is not used */
	struct script_counts counts;
};

/* Keeps the text in the scratch buffer and returns its tag; 0 if there is no room. */
static uint32_t keep_scratch(struct writer *writer)
{
	uint32_t tag = writer->texts.size + 1;

	if (writer->texts.size + sizeof(uint32_t) + writer->scratch.size > TEXTS_MAX_BYTES)
		return 0;
	buffer_append_u32(&writer->texts, writer->scratch.size);
	buffer_append(&writer->texts, writer->scratch.data, writer->scratch.size);
	return tag;
}

static const uint8_t *kept_text(const struct writer *writer, uint32_t tag, uint32_t *ret_bytes)
{
	const uint8_t *kept = writer->texts.data + tag - 1;

	memcpy(ret_bytes, kept, sizeof(*ret_bytes));
	return kept + sizeof(*ret_bytes);
}

/* Writes what follows the address of FRAME to the scratch buffer. */
static void make_name(struct writer *writer, const struct frame *frame, uint32_t fields)
{
	struct script_address address = { .resolver = writer->resolver, .lookup = &frame->lookup,
					  .location = frame->location, .shown = frame->shown,
					  .fields = fields,
					  .inlined = frame->chain && writer->inlined };

	buffer_clear(&writer->scratch);
	script_append_address(&address, &writer->scratch);
}

/* The text after the address of FRAME; valid until the next call. */
static const uint8_t *name_of(struct writer *writer, struct frame *frame, uint32_t fields,
			      uint32_t *ret_bytes)
{
	/*
	 * Events may have different fields, and chains or not. Text is kept only for those that are
	 * like the first.
	 */
	bool keeps = (fields & ADDRESS_FIELDS) == writer->kept_fields &&
		     (frame->chain == writer->kept_chain || !writer->inlined);
	uint32_t *tag = &frame->tag;

	if (keeps && !*tag) /* another frame of the batch may have set it */
		tag = resolver_finish(writer->resolver, &frame->lookup).tag;
	if (keeps && *tag)
		return kept_text(writer, *tag, ret_bytes);
	make_name(writer, frame, fields);
	if (keeps)
		*tag = keep_scratch(writer);
	*ret_bytes = writer->scratch.size;
	return writer->scratch.data;
}

/*
 * Reserves COUNT bytes at the end of OUT, which the caller need not use; NULL if they do not fit.
 */
static inline char *reserve(struct buffer *out, size_t count)
{
	if (out->capacity - out->size < count) {
		if (!buffer_extend(out, count))
			return NULL;
		out->size -= count;
	}
	return (char *)out->data + out->size;
}

/* Writes BEFORE, which is a blank or a newline, and the address and name of FRAME. */
static void write_address(struct writer *writer, struct frame *frame, char before, uint32_t fields)
{
	struct buffer *out = &writer->stream.buffer;
	uint32_t bytes, mark = frame->guessed ? strlen(GUESSED) : 0;
	const uint8_t *name = name_of(writer, frame, fields, &bytes);
	char *at = reserve(out, 1 + 16 + mark + bytes);

	if (!at)
		return;
	*at = before;
	put_address(at + 1, frame->shown);
	memcpy(at + 1 + 16, GUESSED, mark);
	memcpy(at + 1 + 16 + mark, name, bytes);
	out->size += 1 + 16 + mark + bytes;
}

/* Prefetches the data for the text of the pending frames. */
static void resolve_frames(struct writer *writer)
{
	for (size_t i = 0; i < writer->frame_count; i++) {
		struct frame *frame = &writer->frames[i];
		struct resolved resolved = resolver_finish(writer->resolver, &frame->lookup);

		frame->location = resolved.location;
		frame->tag = *resolved.tag;
		if (frame->tag)
			__builtin_prefetch(writer->texts.data + frame->tag - 1);
	}
}

/* What stands after the addresses of a sample, in their last line or one of its own. */
static void write_tail(struct writer *writer, const struct pending *pending)
{
	struct buffer *out = &writer->stream.buffer;
	size_t bytes = pending->head_end - pending->tail_start;
	bool own_line = pending->chain || !(pending->fields & SCRIPT_IP);

	if (bytes && !own_line && out->size && out->data[out->size - 1] == '\n')
		out->size--;
	buffer_append(out, writer->heads.data + pending->tail_start, bytes);
	if (bytes || own_line)
		buffer_append_u8(out, '\n');
}

static void write_pending(struct writer *writer)
{
	struct buffer *out = &writer->stream.buffer;
	size_t head = 0, frame = 0;

	resolve_frames(writer);
	for (size_t i = 0; i < writer->pending_count; i++) {
		const struct pending *pending = &writer->pending[i];

		buffer_append(out, writer->heads.data + head, pending->tail_start - head);
		for (; frame < pending->frame_end; frame++)
			write_address(writer, &writer->frames[frame], pending->chain ? '\t' : ' ',
				      pending->fields);
		write_tail(writer, pending);
		head = pending->head_end;
	}
	writer->pending_count = writer->frame_count = 0;
	buffer_clear(&writer->heads);
}

static struct frame *begin_frame(struct writer *writer, struct machine *machine,
				 struct space *space, uint64_t ip, uint64_t time)
{
	struct frame *frame = &writer->frames[writer->frame_count++];

	resolver_begin(writer->resolver, machine, space, ip, time, &frame->lookup);
	return frame;
}

static void begin_line(struct writer *writer, const struct session_sample *sample,
		       const struct context *context)
{
	uint64_t ip = sample->decoded.sample.ip;
	struct frame *frame =
		begin_frame(writer, context->machine, context->space, ip, sample->time);

	frame->shown = ip;
	frame->guessed = frame->chain = false;
}

static void begin_chain(struct writer *writer, struct session_sample *sample,
			const struct context *context)
{
	const struct perfdata_sample *values = &sample->decoded.sample;
	size_t end = writer->frame_count + writer->max_stack;
	struct chain_place place = { 0 };
	uint64_t mark = PERF_CONTEXT_USER;
	bool entered = false;
	uint64_t added = user_chains_complete(writer->user_chains, context, sample);

	if (!chain_is_sound(writer->session, values))
		return;
	for (uint64_t i = 0; i < values->callchain_count; i++) {
		uint64_t ip = values->callchain[i];
		struct frame *frame;

		if (i == added)
			end = writer->frame_count + writer->max_stack;
		if (chain_is_mark(ip)) {
			mark = ip;
			entered = false;
			continue;
		}
		if (writer->frame_count == end)
			continue;
		if (!entered)
			chain_enter(writer->session, sample, context, mark, &place);
		entered = true;
		frame = begin_frame(writer, place.machine, place.space, ip, sample->time);
		/*
		 * For user code the address in the file is shown, for kernels the address itself.
		 */
		frame->shown = frame->lookup.address;
		frame->guessed = place.cpumode & CPUMODE_GUESSED;
		frame->chain = true;
	}
}

/* The thread's current name, right-aligned to 16 characters if PADDED. */
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
	utf8_append_escaped(text, comm);
	buffer_append_u8(text, ' ');
}

static void write_comm(struct writer *writer, const struct context *context, bool padded)
{
	uint64_t *tag = NULL;
	const uint8_t *text;
	uint32_t bytes;

	if (context->comm != TIMELINE_NO_COMM) {
		tag = map_insert(&writer->comm_tags[padded], context->comm, NULL);
		if (*tag) {
			text = kept_text(writer, *tag, &bytes);
			buffer_append(&writer->heads, text, bytes);
			return;
		}
	}
	make_comm(writer, context, padded);
	if (tag)
		*tag = keep_scratch(writer);
	buffer_append(&writer->heads, writer->scratch.data, writer->scratch.size);
}

/* Writes those of FIELDS that stand before the address, of a record of this TYPE. */
static void write_start(struct writer *writer, const struct session_sample *sample, uint32_t type,
			const struct context *context, const struct script_event *event,
			uint32_t fields)
{
	const struct perfdata_sample *values = &sample->decoded.sample;
	struct buffer *out = &writer->heads;
	char text[160 + SCRIPT_MOMENT_BYTES], *at = text;

	if (fields & (SCRIPT_MACHINE_PID | SCRIPT_VCPU))
		script_append_machine(sample, fields, out);
	if (fields & SCRIPT_COMM)
		write_comm(writer, context, !(event->chains && (event->fields & SCRIPT_IP)));
	at = put_thread(at, values, fields);
	at = script_put_moment(&writer->times, at, type, values->misc, values->time_ns, fields);
	if (fields & SCRIPT_PERIOD) {
		at = put_padded(at, values->period, 10, ' ');
		*at++ = ' ';
	}
	buffer_append(out, text, at - text);
	if (fields & SCRIPT_EVENT)
		buffer_append(out, event->name, event->name_bytes);
	if ((fields & SCRIPT_TRACE) && writer->tracepoints)
		tracepoints_append(writer->tracepoints, sample, out);
	if (fields & SCRIPT_BEFORE_ADDRESS)
		script_extra_before(&writer->extra, sample, fields, out);
}

static bool passes_filter(struct writer *writer, const struct session_sample *sample,
			  struct context *context)
{
	writer->counts.samples++;
	if (!writer->filtering.filter || !writer->filtering.filter->any ||
	    filtering_judge(&writer->filtering, writer->session, sample, context) == FILTER_TAKES)
		return true;
	writer->counts.left_out++;
	return false;
}

static void take_sample(struct writer *writer, struct session_sample *sample)
{
	const struct script_event *event = &writer->events[sample->decoded.event_index];
	struct context *context = context_find(writer->contexts, sample);
	struct pending *pending = &writer->pending[writer->pending_count];
	bool address = event->fields & SCRIPT_IP;
	size_t tail_start;

	if (!passes_filter(writer, sample, context))
		return;
	writer->pending_count++;
	write_start(writer, sample, PERF_RECORD_SAMPLE, context, event, event->fields);
	if (address && event->chains)
		buffer_append_u8(&writer->heads, '\n');
	tail_start = writer->heads.size;
	if (event->fields & SCRIPT_AFTER_ADDRESS)
		script_extra_after(&writer->extra, sample, event->fields, &writer->heads);
	if (address && event->chains)
		begin_chain(writer, sample, context);
	else if (address)
		begin_line(writer, sample, context);
	*pending = (struct pending){ .head_end = writer->heads.size,
				     .tail_start = tail_start,
				     .frame_end = writer->frame_count,
				     .fields = event->fields,
				     .chain = address && event->chains };
	if (writer->pending_count == BATCH || writer->frame_count >= BATCH_FRAMES)
		write_pending(writer);
}

/* Writes a record that is not a sample. As in perf, of the filters only that of CPUs applies. */
static void take_record(struct writer *writer, const struct perfdata_record *record)
{
	const struct filter *filter = writer->filtering.filter;
	const struct script_event *event;
	struct script_record begun;

	if (!script_records_begin(&writer->records, record, &begun) ||
	    !(writer->record_types >> record->type & 1))
		return;
	if (filter && !ranges_admit(&filter->cpus, begun.head.decoded.sample.cpu))
		return;
	event = &writer->events[begun.head.decoded.event_index];
	write_pending(writer);
	write_start(writer, &begun.head, record->type, &begun.thread, event,
		    event->fields & RECORD_FIELDS);
	buffer_append(&writer->stream.buffer, writer->heads.data, writer->heads.size);
	buffer_clear(&writer->heads);
	script_records_append(&writer->records, record, &begun, &writer->stream.buffer);
}

static void write_all(struct writer *writer)
{
	uint32_t types = writer->record_types ? writer->record_types | SCRIPT_RECORDS_NEEDED : 0;
	struct ordered *ordered = ordered_create(writer->session, types);
	struct perfdata_record record;
	struct session_sample sample;

	while (ordered_next_record(ordered, &record, &sample) == PERFDATA_RECORD) {
		if (record.type != PERF_RECORD_SAMPLE)
			take_record(writer, &record);
		else if (sample.valid)
			take_sample(writer, &sample);
		if (!output_stream_line(&writer->stream))
			break;
	}
	write_pending(writer);
	ordered_destroy(ordered);
}

static struct error *choose_fields(struct writer *writer, size_t event_count,
				   const struct script_fields *fields)
{
	struct error *error = script_events_create(writer->session, fields, &writer->events);

	if (!error && script_events_have(writer->events, event_count, SCRIPT_TRACE))
		error = tracepoints_create(writer->session,
					   "-F without 'trace' shows the rest of its samples",
					   &writer->tracepoints);
	if (error)
		return error;
	return script_times_init(&writer->times, writer->session, fields,
				 script_events_have(writer->events, event_count, SCRIPT_TOD));
}

struct error *script_text_write(int fd, struct session *session, const struct script_fields *fields,
				const struct filter *filter, struct script_counts *ret_counts)
{
	struct writer writer = { .session = session };
	size_t event_count = perfdata_reader_event_count(session->reader);
	struct error *error = choose_fields(&writer, event_count, fields);

	*ret_counts = writer.counts;
	if (error) {
		tracepoints_destroy(writer.tracepoints);
		script_events_destroy(writer.events, event_count);
		return error;
	}
	output_stream_init(&writer.stream, fd);
	buffer_init(&writer.texts, TEXTS_MAX_BYTES);
	buffer_init(&writer.scratch, 1024 * 1024);
	buffer_init(&writer.heads, HEADS_MAX_BYTES);
	map_init(&writer.comm_tags[0]);
	map_init(&writer.comm_tags[1]);
	writer.kept_fields = event_count ? writer.events[0].fields & ADDRESS_FIELDS : 0;
	writer.kept_chain = event_count && writer.events[0].chains;
	writer.inlined = fields->inlined;
	writer.max_stack = fields->max_stack ? fields->max_stack : MAX_STACK;
	writer.frames = memory_calloc(BATCH_FRAMES + 2 * writer.max_stack, sizeof(*writer.frames));
	writer.resolver = resolver_create(session);
	writer.extra = (struct script_extra){ .session = session, .resolver = writer.resolver };
	script_records_init(&writer.records, session, writer.resolver);
	writer.record_types = fields->records;
	writer.contexts = memory_alloc(sizeof(*writer.contexts));
	context_cache_init(writer.contexts, session);
	filtering_init(&writer.filtering, filter, writer.resolver);
	writer.user_chains = user_chains_create(session);
	write_all(&writer);
	user_chains_destroy(writer.user_chains);
	*ret_counts = writer.counts;
	filtering_deinit(&writer.filtering);
	free(writer.contexts);
	free(writer.frames);
	script_records_deinit(&writer.records);
	resolver_destroy(writer.resolver);
	map_deinit(&writer.comm_tags[0]);
	map_deinit(&writer.comm_tags[1]);
	buffer_deinit(&writer.texts);
	buffer_deinit(&writer.scratch);
	buffer_deinit(&writer.heads);
	tracepoints_destroy(writer.tracepoints);
	script_events_destroy(writer.events, event_count);
	return output_stream_finish(&writer.stream);
}
