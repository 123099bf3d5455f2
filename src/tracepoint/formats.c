/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats are parsed when the recording is opened: it has only those of its own tracepoints. */
#include "tracepoint/formats.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/vector.h"
#include "perfdata/tracing_data.h"

struct trace_formats {
	VECTOR(struct trace_format *) items;
	struct map by_id; /* values: indices of items */
	bool swap;
	uint8_t long_bytes;
};

static void add(struct trace_formats *formats, struct trace_format *format)
{
	bool added;
	uint64_t *index = map_insert(&formats->by_id, format->id, &added);

	if (!added) {
		trace_format_deinit(format);
		return;
	}
	*index = formats->items.count;
	vector_append(&formats->items, memory_dup(format, sizeof(*format)));
}

struct trace_formats *trace_formats_create(const void *data, size_t size)
{
	struct trace_formats *formats;
	struct perfdata_tracing_format text;
	struct perfdata_tracing tracing;
	struct trace_format format;

	if (!perfdata_tracing_open(data, size, &tracing))
		return NULL;
	formats = memory_calloc(1, sizeof(*formats));
	map_init(&formats->by_id);
	formats->swap = tracing.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	formats->long_bytes = tracing.long_bytes;
	while (perfdata_tracing_next(&tracing, &text))
		if (trace_format_parse(text.text, text.bytes, &format))
			add(formats, &format);
	if (!tracing.cursor.failed)
		return formats;
	trace_formats_destroy(formats);
	return NULL;
}

void trace_formats_destroy(struct trace_formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->items.count; i++) {
		trace_format_deinit(formats->items.items[i]);
		free(formats->items.items[i]);
	}
	vector_deinit(&formats->items);
	map_deinit(&formats->by_id);
	free(formats);
}

const struct trace_format *trace_formats_find(const struct trace_formats *formats, uint64_t id)
{
	const uint64_t *index = map_find(&formats->by_id, id);

	return index ? formats->items.items[*index] : NULL;
}

struct trace_payload trace_formats_payload(const struct trace_formats *formats, const void *raw,
					   size_t bytes)
{
	return (struct trace_payload){ .data = raw,
				       .bytes = bytes,
				       .swap = formats->swap,
				       .long_bytes = formats->long_bytes };
}
