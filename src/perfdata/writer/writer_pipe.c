/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pipe form, as `perf record -o -` writes it: all that a file has in its header and behind the
 * records is in the stream.
 *
 * Source: tools/perf/util/synthetic-events.c (perf_event__synthesize_for_pipe()), and what reads
 * it, tools/perf/util/header.c (perf_event__process_attr(), …_feature(), …_tracing_data()).
 *
 * An event's ids must be known before they are used, and perf takes ids in HEADER_ATTR alone, of
 * which each is another event. So an event has all ids that it may ever have from the start; an
 * ID_INDEX record says of each what it stands for when that is known.
 */
#include <string.h>

#include "base/memory.h"
#include "perfdata/writer/writer_state.h"

#define PIECE_BYTES 32768

/* The ids of an event: those that it was created with, then those that it will give. */
static struct error *write_attr(struct perfdata_writer *writer, size_t event_index, uint64_t first)
{
	const struct perfdata_event *event = &writer->events[event_index];

	writer_begin_record(writer, RECORD_HEADER_ATTR, 0);
	writer_put_attr(writer, &event->attr, &writer->scratch);
	for (size_t i = 0; i < event->id_count; i++)
		buffer_append_u64(&writer->scratch, event->ids[i].id);
	for (size_t i = event->id_count; i < writer->max_ids; i++)
		buffer_append_u64(&writer->scratch, first++);
	return writer_end_record(writer);
}

struct error *writer_begin_pipe(struct perfdata_writer *writer)
{
	struct format_pipe_header header = { FORMAT_MAGIC, sizeof(header) };
	uint64_t next = writer->last_id + 1;
	struct error *error = NULL;

	buffer_append(&writer->pending, &header, sizeof(header));
	writer->next_ids = memory_calloc(writer->event_count, sizeof(*writer->next_ids));
	for (size_t i = 0; i < writer->event_count && !error; i++) {
		const struct perfdata_event *event = &writer->events[i];

		writer->next_ids[i] = next;
		error = write_attr(writer, i, next);
		if (!error)
			error = writer_event_name(writer, event,
						  event->id_count ? event->ids[0].id : next);
		next += writer->max_ids - event->id_count;
	}
	return error;
}

/* HEADER_TRACING_DATA: the size, and behind the record so many bytes. */
static struct error *write_tracing_data(struct perfdata_writer *writer, const void *data,
					size_t size)
{
	_cleanup_buffer_ struct buffer bytes;
	struct error *error;

	buffer_init(&bytes, size + 8);
	buffer_append(&bytes, data, size);
	buffer_pad(&bytes, 8);
	writer_begin_record(writer, RECORD_HEADER_TRACING_DATA, 0);
	buffer_append_u32(&writer->scratch, bytes.size);
	/* perf's record has 12 bytes (struct perf_record_header_tracing_data) */
	error = writer_end_record(writer);
	return error ? error : writer_append_payload(writer, bytes.data, bytes.size);
}

struct error *writer_pipe_feature(struct perfdata_writer *writer, enum format_feature bit,
				  const void *data, size_t size)
{
	if (bit == FEATURE_TRACING_DATA)
		return write_tracing_data(writer, data, size);
	if (size > PIECE_BYTES) /* a command line, say: one that is no use to anybody */
		return NULL;
	writer_begin_record(writer, RECORD_HEADER_FEATURE, 0);
	buffer_append_u64(&writer->scratch, bit);
	buffer_append(&writer->scratch, data, size);
	buffer_pad(&writer->scratch, 8);
	return writer_end_record(writer);
}

struct error *writer_pipe_build_ids(struct perfdata_writer *writer, const void *data, size_t size)
{
	_cleanup_free_ uint8_t *records = memory_dup(data, size);
	uint32_t type = RECORD_HEADER_BUILD_ID;

	/* The feature has the same entries without a type. */
	for (size_t at = 0; at < size;) {
		struct perf_event_header header;

		memcpy(records + at, &type, sizeof(type));
		memcpy(&header, records + at, sizeof(header));
		at += header.size;
	}
	return size ? perfdata_writer_append(writer, records, size) : NULL;
}
