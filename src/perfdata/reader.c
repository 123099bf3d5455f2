/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader: opens a recording, and returns its records one after another. They come from a window
 * (reader_state.h). The common case, a complete record of one of the kernel's types, takes a few
 * instructions; everything else is in separate functions: records of perf's user space, the end of
 * the window, compressed records.
 */
#include "perfdata/reader.h"

#include <string.h>

#include "base/cursor.h"
#include "perfdata/reader_state.h"

/* The limit for the contents of a compressed record if the file gives none. */
#define INFLATE_DEFAULT_BYTES ((uint64_t)16 << 20)
/* Files are read twice, and mapping memory again takes longer than reading mapped memory. */
#define KEEP_BYTES ((size_t)128 << 20)
#define RELEASE_BYTES ((size_t)4 << 20)

/*
 * Takes in everything before the first sample, so that the events of the pipe form and the VMs of
 * the ids are known right after opening. Errors there are reported when the caller gets to them.
 */
static void read_ahead(struct perfdata_reader *reader)
{
	struct perfdata_record record;

	while (perfdata_reader_next(reader, &record) == PERFDATA_RECORD)
		if (record.type == PERF_RECORD_SAMPLE)
			break;
	perfdata_reader_rewind(reader);
}

struct perfdata_reader *perfdata_reader_create(const char *path)
{
	struct perfdata_reader *reader = memory_calloc(1, sizeof(*reader));
	struct perfdata_features *features = &reader->features;

	reader->path = memory_strdup(path);
	reader->name = strcmp(path, "-") ? reader->path : "standard input";
	reader->inflate_limit = INFLATE_DEFAULT_BYTES;
	reader->keep_bytes = KEEP_BYTES;
	reader->arena = arena_create();
	map_init(&reader->ids.positions);
	map_init(&reader->table_of_number);
	perfdata_notes_init(&reader->notes);
	buffer_init(&reader->scratch, UINT16_MAX);
	features->hostname = features->osrelease = features->version = features->arch = "";
	features->cpudesc = features->cpuid = features->cmdline = "";
	return reader;
}

/* The first file is loaded: reads its header, and the other files. */
static struct error *start_reading(struct perfdata_reader *reader)
{
	struct error *error;

	if (!reader->files.items[0].size)
		return error_hint(error_create(ERROR_BAD_DATA, "'%s' is empty", reader->name),
				  "was the recording killed, or was the disk full?");
	error = perfdata_header_read(reader);
	if (!error && reader->directory)
		error = perfdata_files_open_others(reader);
	if (error)
		return error;
	perfdata_reader_rewind(reader);
	read_ahead(reader);
	return NULL;
}

struct error *perfdata_reader_open(const char *path, struct perfdata_reader **ret)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = perfdata_reader_create(path);
	struct error *error = perfdata_files_open(reader);

	if (!error)
		error = start_reading(reader);
	if (!error)
		*ret = take_pointer(reader);
	return error;
}

struct error *perfdata_reader_open_memory(const void *data, size_t size, const char *name,
					  struct perfdata_reader **ret)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = perfdata_reader_create(name);
	struct error *error;

	reader->files_borrowed = true;
	vector_append(&reader->files, (struct mapped_file){ data, size });
	error = start_reading(reader);
	if (!error)
		*ret = take_pointer(reader);
	return error;
}

void perfdata_reader_close(struct perfdata_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->files.count && !reader->files_borrowed; i++)
		file_unmap(&reader->files.items[i]);
	vector_deinit(&reader->files);
	vector_deinit(&reader->spans);
	vector_deinit(&reader->parts);
	perfdata_inflate_destroy(reader->inflate);
	error_destroy(reader->error);
	perfdata_ids_deinit(reader);
	buffer_deinit(&reader->scratch);
	arena_destroy(reader->arena);
	vector_deinit(&reader->build_ids);
	perfdata_tables_deinit(reader);
	perfdata_notes_deinit(&reader->notes);
	free(reader->feed.data);
	if (reader->inventory) {
		perfdata_inventory_deinit(reader->inventory);
		free(reader->inventory);
	}
	free(reader->directory);
	free(reader->path);
	free(reader);
}

static const struct reader_span *current_span(const struct perfdata_reader *reader)
{
	return &reader->spans.items[reader->span_index];
}

static void start_span(struct perfdata_reader *reader)
{
	const struct reader_span *span = current_span(reader);

	reader->inflating = false;
	reader->window = (struct reader_window){ span->data, span->data + span->size };
	reader->waiting = (struct reader_window){ 0 };
	if (reader->inflate)
		perfdata_inflate_reset(reader->inflate);
}

void perfdata_reader_rewind(struct perfdata_reader *reader)
{
	error_destroy(take_pointer(reader->error));
	if (reader->inflate)
		perfdata_inflate_rewind(reader->inflate);
	reader->truncated = reader->header_truncated;
	reader->meta_seen = 0;
	reader->span_index = 0;
	reader->bytes_before = 0;
	reader->released_offset = 0;
	start_span(reader);
}

void perfdata_reader_release(struct perfdata_reader *reader)
{
	const uint8_t *at = reader->inflating ? reader->waiting.at : reader->window.at;
	uint64_t offset = reader->feed.given ? 0 : perfdata_reader_offset(reader);

	if (offset - reader->released_offset < RELEASE_BYTES)
		return;
	reader->released_offset = offset;
	for (size_t i = 0; i < reader->files.count; i++) {
		const struct mapped_file *file = &reader->files.items[i];

		if (at >= file->data && at < file->data + file->size)
			file_release(file, reader->keep_bytes, at - file->data);
	}
}

void perfdata_reader_keep_nothing(struct perfdata_reader *reader)
{
	reader->keep_bytes = 0;
}

/* The offset of the current position in its span. */
static uint64_t span_offset(const struct perfdata_reader *reader)
{
	const uint8_t *at = reader->inflating ? reader->waiting.at : reader->window.at;

	return at - current_span(reader)->data;
}

static uint64_t file_offset(const struct perfdata_reader *reader)
{
	return reader->inflating ? reader->compressed_offset
				 : current_span(reader)->file_offset + span_offset(reader);
}

/* Ends reading because of CAUSE, which it takes. */
static enum perfdata_status end_as_bad(struct perfdata_reader *reader, uint64_t offset,
				       struct error *cause)
{
	reader->error = error_prefix(cause, "'%s' at byte %llu", current_span(reader)->name,
				     (unsigned long long)offset);
	return PERFDATA_BAD;
}

static void swap_windows(struct perfdata_reader *reader)
{
	struct reader_window window = reader->window;

	reader->window = reader->waiting;
	reader->waiting = window;
	reader->inflating = !reader->inflating;
}

/* Switches to the contents of a compressed record. */
static struct error *start_inflating(struct perfdata_reader *reader,
				     const struct perfdata_record *record)
{
	struct cursor cursor = cursor_make(record->body, record->body_bytes, reader->swap);
	uint64_t size = record->body_bytes;

	if (reader->inflating)
		return error_create(ERROR_BAD_DATA, "a compressed record inside another one");
	if (record->type == RECORD_COMPRESSED2)
		size = cursor_u64(&cursor);
	if (cursor.failed || size > cursor_left(&cursor))
		return error_create(ERROR_BAD_DATA, "malformed COMPRESSED record");
	if (!reader->inflate) {
		struct error *error = perfdata_inflate_create(&reader->inflate);

		if (error)
			return error;
		perfdata_inflate_reset(reader->inflate);
	}
	perfdata_inflate_begin(reader->inflate, cursor_bytes(&cursor, size), size,
			       reader->inflate_limit);
	reader->compressed_offset = record->file_offset;
	swap_windows(reader);
	return NULL;
}

/* Skips the bytes after RECORD that belong to it. */
static void skip_payload(struct perfdata_reader *reader, uint64_t payload_bytes)
{
	size_t left = reader->window.end - reader->window.at;

	if (payload_bytes > left) {
		if (perfdata_feed_goes_on(reader))
			reader->feed.skip_bytes = payload_bytes - left;
		else
			reader->truncated = true;
		payload_bytes = left;
	}
	reader->window.at += payload_bytes;
}

/* A record of perf's user space: its information is taken in when it is read for the first time. */
static enum perfdata_status handle_user_record(struct perfdata_reader *reader,
					       const struct perfdata_record *record)
{
	uint64_t payload_bytes = perfdata_stream_payload(reader, record);
	struct error *error = NULL;

	if (perfdata_feed_waits_for(reader, record, payload_bytes))
		return PERFDATA_WAIT;
	if (reader->inflating && payload_bytes)
		error = error_create(ERROR_BAD_DATA, "a record type that cannot be compressed");
	/* Only kernel records are compressed: any other record inside can be ignored. */
	else if (!reader->inflating && reader->meta_seen++ == reader->meta_taken) {
		if (payload_bytes <= (size_t)(reader->window.end - reader->window.at))
			error = perfdata_stream_take(reader, record);
		reader->meta_taken += !error;
	}
	if (error)
		return end_as_bad(reader, record->file_offset, error);
	skip_payload(reader, payload_bytes);
	return PERFDATA_RECORD;
}

/*
 * The window has no more complete records: moves on to one that has, or to the end. *RET_MORE:
 * there may be more to read.
 */
static enum perfdata_status next_window(struct perfdata_reader *reader, bool *ret_more)
{
	*ret_more = true;
	if (reader->inflating) {
		struct reader_window window;
		struct error *error;
		bool more;

		error = perfdata_inflate_more(reader->inflate, &reader->window, &window, &more);
		if (error)
			return end_as_bad(reader, reader->compressed_offset, error);
		reader->window = window;
		if (!more)
			swap_windows(reader);
		return PERFDATA_RECORD;
	}
	if (perfdata_feed_goes_on(reader)) {
		*ret_more = false;
		return PERFDATA_WAIT;
	}
	/* An incomplete record is left over, in the file or in its compressed contents. */
	if (reader->window.at != reader->window.end || reader->waiting.at != reader->waiting.end) {
		reader->truncated = true;
		reader->rest_bytes = reader->window.end - reader->window.at;
	}
	if (reader->span_index + 1 >= reader->spans.count) {
		reader->truncated |= perfdata_notes_missing(reader);
		*ret_more = false;
		return PERFDATA_END;
	}
	reader->bytes_before += current_span(reader)->size;
	reader->span_index++;
	start_span(reader);
	return PERFDATA_RECORD;
}

/* The record at the start of the window; false if it is incomplete. */
static inline bool take_record(struct perfdata_reader *reader, struct perfdata_record *ret)
{
	const uint8_t *at = reader->window.at;
	size_t left = reader->window.end - at;
	struct perf_event_header header;

	if (left < sizeof(header))
		return false;
	memcpy(&header, at, sizeof(header));
	if (reader->swap) {
		header.type = __builtin_bswap32(header.type);
		header.misc = __builtin_bswap16(header.misc);
		header.size = __builtin_bswap16(header.size);
	}
	if (header.size > left)
		return false;
	ret->type = header.type;
	ret->misc = header.misc;
	ret->size = header.size;
	ret->body = at + sizeof(header);
	ret->body_bytes = (size_t)header.size - sizeof(header);
	ret->file_offset = file_offset(reader);
	reader->window.at = at + header.size;
	return true;
}

/*
 * When the power failed, the file system may have made the file longer, but not have written what
 * was to be there.
 */
static bool ends_in_zeros(struct perfdata_reader *reader, const struct perfdata_record *record)
{
	if (record->size || record->type || record->misc || reader->inflating ||
	    !perfdata_notes_missing(reader))
		return false;
	reader->window.at = reader->window.end;
	return true;
}

static enum perfdata_status take_kernel_record(struct perfdata_reader *reader,
					       const struct perfdata_record *record)
{
	struct error *error = NULL;

	if (reader->inflating && record->type != PERF_RECORD_SAMPLE)
		error = perfdata_inflate_count_side(reader->inflate, record->size);
	return error ? end_as_bad(reader, record->file_offset, error) : PERFDATA_RECORD;
}

enum perfdata_status perfdata_reader_next(struct perfdata_reader *reader,
					  struct perfdata_record *ret)
{
	if (reader->error)
		return PERFDATA_BAD;
	if (perfdata_feed_is_over(reader))
		return PERFDATA_END;
	for (;;) {
		struct error *error;

		while (!take_record(reader, ret)) {
			bool more;
			enum perfdata_status status = next_window(reader, &more);

			if (!more || status != PERFDATA_RECORD)
				return status;
		}
		if (ends_in_zeros(reader, ret))
			continue;
		if (ret->size < sizeof(struct perf_event_header))
			return end_as_bad(
				reader, ret->file_offset,
				error_create(ERROR_BAD_DATA, "bad record size: %u", ret->size));
		if (ret->type < RECORD_USER_FIRST)
			return take_kernel_record(reader, ret);
		if (ret->type != RECORD_COMPRESSED && ret->type != RECORD_COMPRESSED2)
			return handle_user_record(reader, ret);
		error = start_inflating(reader, ret);
		if (error)
			return end_as_bad(reader, ret->file_offset, error);
	}
}

const struct error *perfdata_reader_error(const struct perfdata_reader *reader)
{
	return reader->error;
}

bool perfdata_reader_swap(const struct perfdata_reader *reader)
{
	return reader->swap;
}

uint64_t perfdata_reader_bytes(const struct perfdata_reader *reader)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < reader->spans.count; i++)
		bytes += reader->spans.items[i].size;
	return bytes;
}

uint64_t perfdata_reader_offset(const struct perfdata_reader *reader)
{
	return reader->bytes_before + span_offset(reader);
}

size_t perfdata_reader_event_count(const struct perfdata_reader *reader)
{
	return reader->events.count;
}

const struct perfdata_event *perfdata_reader_event(const struct perfdata_reader *reader,
						   size_t index)
{
	return reader->events.items[index];
}

const char *perfdata_reader_directory(const struct perfdata_reader *reader)
{
	return reader->directory;
}
