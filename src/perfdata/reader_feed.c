/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that comes in pieces. What was not read yet is kept in one buffer, the only span of
 * the reader: the start of a record, less than 64 KiB, but for tracing data, which must be there as
 * a whole. The window is in the buffer whenever more is fed, for a compressed record is read to its
 * end before that.
 */
#include <string.h>

#include "perfdata/reader_state.h"

#define FIRST_BYTES ((size_t)256 << 10)
/* Tracing data that are larger are skipped, like AUX data, of which nothing is read. */
#define PAYLOAD_MAX_BYTES ((uint64_t)64 << 20)

struct perfdata_reader *perfdata_reader_open_fed(const char *name)
{
	struct perfdata_reader *reader = perfdata_reader_create(name);

	reader->feed.given = true;
	reader->files_borrowed = true;
	return reader;
}

/* The header is complete: what follows are records. */
static struct error *begin(struct perfdata_reader *reader)
{
	struct mapped_file header = { reader->feed.header, sizeof(reader->feed.header) };
	struct format_pipe_header fields;
	struct error *error;

	memcpy(&fields, header.data, sizeof(fields));
	if ((fields.magic == FORMAT_MAGIC && fields.size != sizeof(fields)) ||
	    (fields.magic == __builtin_bswap64(FORMAT_MAGIC) &&
	     fields.size != __builtin_bswap64(sizeof(fields))))
		return error_hint(error_create(ERROR_UNSUPPORTED,
					       "'%s' is a pipe with a recording in the form of a "
					       "file", reader->name),
				  "-i FILE reads it from the file");
	vector_append(&reader->files, header);
	error = perfdata_header_read(reader);
	reader->files.items[0] = (struct mapped_file){ 0 };
	return error;
}

static void take_header(struct reader_feed *feed, const uint8_t **bytes, size_t *size)
{
	size_t part = sizeof(feed->header) - feed->header_bytes;

	part = part < *size ? part : *size;
	memcpy(feed->header + feed->header_bytes, *bytes, part);
	feed->header_bytes += part;
	*bytes += part;
	*size -= part;
}

/* The rest of the window moves to the beginning of the buffer. */
static void append(struct perfdata_reader *reader, const uint8_t *bytes, size_t size)
{
	struct reader_feed *feed = &reader->feed;
	struct reader_span *span = &reader->spans.items[0];
	size_t rest = reader->window.end - reader->window.at;

	span->file_offset += reader->window.at - span->data;
	if (rest)
		memmove(feed->data, reader->window.at, rest);
	if (rest + size > feed->capacity) {
		feed->capacity = feed->capacity ? 2 * feed->capacity : FIRST_BYTES;
		if (feed->capacity < rest + size)
			feed->capacity = rest + size;
		feed->data = memory_resize(feed->data, feed->capacity, 1);
	}
	if (size)
		memcpy(feed->data + rest, bytes, size);
	span->data = feed->data;
	span->size = rest + size;
	reader->window = (struct reader_window){ span->data, span->data + span->size };
	/* Limits of what becomes of it are by its size. */
	reader->files.items[0].size = feed->bytes;
}

struct error *perfdata_reader_feed(struct perfdata_reader *reader, const void *bytes, size_t size)
{
	struct reader_feed *feed = &reader->feed;
	const uint8_t *at = bytes;
	size_t skipped;
	struct error *error;

	feed->bytes += size;
	if (feed->header_bytes < sizeof(feed->header)) {
		take_header(feed, &at, &size);
		if (feed->header_bytes < sizeof(feed->header))
			return NULL;
		error = begin(reader);
		if (error)
			return error;
		reader->window = (struct reader_window){ reader->spans.items[0].data,
							 reader->spans.items[0].data };
	}
	skipped = feed->skip_bytes < size ? feed->skip_bytes : size;
	feed->skip_bytes -= skipped;
	append(reader, at + skipped, size - skipped);
	return NULL;
}

struct error *perfdata_reader_feed_end(struct perfdata_reader *reader)
{
	reader->feed.ended = true;
	if (reader->spans.count) {
		reader->truncated |= reader->feed.skip_bytes > 0;
		return NULL;
	}
	if (!reader->feed.bytes)
		return error_hint(error_create(ERROR_BAD_DATA, "'%s' is empty", reader->name),
				  "was the recorder killed?");
	return error_create(ERROR_BAD_DATA, "'%s' ends within the header of a recording",
			    reader->name);
}

const void *perfdata_reader_unread(const struct perfdata_reader *reader, size_t *ret_size)
{
	*ret_size = reader->window.end - reader->window.at;
	return reader->window.at;
}

bool perfdata_feed_waits_for(struct perfdata_reader *reader, const struct perfdata_record *record,
			     uint64_t payload_bytes)
{
	if (!perfdata_feed_goes_on(reader) || reader->inflating ||
	    record->type != RECORD_HEADER_TRACING_DATA || payload_bytes > PAYLOAD_MAX_BYTES ||
	    payload_bytes <= (uint64_t)(reader->window.end - reader->window.at))
		return false;
	reader->window.at -= record->size;
	return true;
}
