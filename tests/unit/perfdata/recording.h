/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds recordings byte by byte for tests of the reader, without the writer: pieces that a test
 * combines as it likes, correctly or not.
 */
#ifndef TEST_RECORDING_H
#define TEST_RECORDING_H

#include <string.h>

#include "base/buffer.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"

#define RECORDING_MAX_BYTES ((size_t)64 << 20)

/* Appends a record with a body of BODY_BYTES. */
static inline void put_record(struct buffer *out, uint32_t type, uint16_t misc, const void *body,
			      size_t body_bytes)
{
	struct perf_event_header header = { .type = type, .misc = misc,
					    .size = sizeof(header) + body_bytes };

	buffer_append(out, &header, sizeof(header));
	buffer_append(out, body, body_bytes);
}

#define put_words(out, type, misc, ...)                                                            \
	do {                                                                                       \
		const uint64_t words_[] = { __VA_ARGS__ };                                         \
		put_record(out, type, misc, words_, sizeof(words_));                               \
	} while (0)

struct test_event {
	struct perf_event_attr attr;
	uint64_t ids[4];
	size_t id_count;
};

/* The sample type of most tests: an id, then the instruction pointer. */
#define SIMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP)

/* Appends the header and the attrs of the file form, for DATA_BYTES of records. */
static inline void put_file_header(struct buffer *out, const struct test_event *events,
				   size_t count, uint64_t data_bytes)
{
	size_t entry_bytes = sizeof(struct perf_event_attr) + sizeof(struct format_section);
	size_t ids_offset = sizeof(struct format_header) + count * entry_bytes;
	struct format_header header = {
		.magic = FORMAT_MAGIC, .size = sizeof(header), .attr_size = entry_bytes,
		.attrs = { sizeof(header), count * entry_bytes },
		.data = { ids_offset + count * sizeof(events->ids), data_bytes },
	};

	buffer_append(out, &header, sizeof(header));
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attr = events[i].attr;
		struct format_section ids = { ids_offset + i * sizeof(events->ids),
					      events[i].id_count * sizeof(uint64_t) };

		attr.size = sizeof(attr);
		buffer_append(out, &attr, sizeof(attr));
		buffer_append(out, &ids, sizeof(ids));
	}
	for (size_t i = 0; i < count; i++)
		buffer_append(out, events[i].ids, sizeof(events->ids));
}

/* A complete recording in the file form, without features. */
static inline void put_recording(struct buffer *out, const struct test_event *events,
				 size_t count, const struct buffer *records)
{
	put_file_header(out, events, count, records->size);
	buffer_append(out, records->data, records->size);
}

static inline void put_pipe_header(struct buffer *out)
{
	struct format_pipe_header header = { FORMAT_MAGIC, sizeof(header) };

	buffer_append(out, &header, sizeof(header));
}

#endif
