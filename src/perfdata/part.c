/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a recording, for threads that read it in parallel. The start of a record is only known
 * after reading the one before it, so parts are cut while all records are read for the first time.
 * Compressed data can only be read from its start, so a recording with compressed records has no
 * parts.
 *
 * A part's reader is a copy of the reader with its own window, id cache and scratch memory. The
 * data that both point to (files, events, ids, features) no longer changes.
 */
#include <stdlib.h>

#include "perfdata/reader_state.h"

#define PART_BYTES ((size_t)1 << 20)

static size_t offset_in_span(const struct perfdata_reader *reader)
{
	return reader->window.at - reader->spans.items[reader->span_index].data;
}

static void add_part(struct perfdata_reader *reader, size_t span, size_t start)
{
	vector_append(&reader->parts, (struct reader_part){ .span = span, .start = start });
}

void perfdata_reader_cut(struct perfdata_reader *reader)
{
	size_t offset = offset_in_span(reader), span = 0;

	if (reader->inflate)
		return;
	if (reader->parts.count) {
		struct reader_part last = reader->parts.items[reader->parts.count - 1];

		span = last.span + 1;
		if (last.span == reader->span_index && offset - last.start >= PART_BYTES)
			add_part(reader, last.span, offset);
	}
	/* The first record of a span is read before the caller could cut there. */
	for (; span <= reader->span_index; span++)
		add_part(reader, span, 0);
}

size_t perfdata_reader_part_count(const struct perfdata_reader *reader)
{
	return reader->inflate ? 0 : reader->parts.count;
}

static struct reader_window window_of(const struct perfdata_reader *reader, size_t number)
{
	const struct reader_part *part = &reader->parts.items[number], *next = part + 1;
	const struct reader_span *span = &reader->spans.items[part->span];
	size_t end = span->size;

	if (number + 1 < reader->parts.count && next->span == part->span)
		end = next->start;
	return (struct reader_window){ span->data + part->start, span->data + end };
}

struct perfdata_reader *perfdata_reader_open_part(const struct perfdata_reader *reader,
						  size_t number)
{
	struct perfdata_reader *part = memory_dup(reader, sizeof(*reader));

	part->window = window_of(reader, number);
	part->waiting = (struct reader_window){ 0 };
	part->inflating = part->truncated = false;
	part->error = NULL;
	part->span_index = reader->parts.items[number].span;
	part->spans.count = part->span_index + 1; /* make it the last one */
	part->meta_taken = SIZE_MAX; /* records about the recording are already taken in */
	buffer_init(&part->scratch, UINT16_MAX);
	return part;
}

static void release(const struct perfdata_reader *reader, const struct reader_window *window)
{
	for (size_t i = 0; i < reader->files.count; i++) {
		const struct mapped_file *file = &reader->files.items[i];

		if (window->at >= file->data && window->end <= file->data + file->size)
			file_release(file, window->at - file->data, window->end - file->data);
	}
}

void perfdata_reader_close_part(struct perfdata_reader *reader, struct perfdata_reader *part,
				size_t number)
{
	struct reader_window window = window_of(reader, number);

	release(reader, &window);
	if (part->truncated) /* another thread may set it, too */
		__atomic_store_n(&reader->truncated, true, __ATOMIC_RELAXED);
	error_destroy(part->error);
	buffer_deinit(&part->scratch);
	free(part);
}
