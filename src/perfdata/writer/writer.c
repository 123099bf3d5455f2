/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording to its file, or to a pipe (writer_pipe.c).
 *
 * 	format_header | an attr and the location of its ids, per event | room for the ids, per
 * 	event | records … | table of the feature sections, sections (writer_features.c)
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.c
 * (perf_session__do_write_header(), perf_session__read_header()).
 *
 * Records are collected in memory and written WRITER_PENDING_BYTES at a time. The header is written
 * last, after everything that it describes: whenever the recorder dies, the file is in the state of
 * the last flush, with some extra bytes at its end. Every id used by a record in the file is in the
 * header, too: perf gives up on a file whose ID_INDEX has an unknown id
 * (perf_event__process_id_index()).
 *
 * Limits: ids are never removed; an event's attr does not change.
 */
#include "perfdata/writer/writer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "perfdata/sample_fields.h"
#include "perfdata/writer/writer_state.h"

struct error *writer_write_at(struct perfdata_writer *writer, uint64_t offset, const void *data,
			      size_t size)
{
	if (!writer->pipe && lseek(writer->fd, offset, SEEK_SET) < 0)
		return error_system(errno, "could not seek in '%s'", writer->path);
	return file_write_all(writer->fd, data, size, writer->path);
}

void writer_put_attr(const struct perfdata_writer *writer, const struct perf_event_attr *attr,
		     struct buffer *out)
{
	struct perf_event_attr written = *attr;

	written.size = writer->attr_bytes;
	buffer_append(out, &written, writer->attr_bytes);
}

static uint64_t attrs_offset(void)
{
	return sizeof(struct format_header);
}

static uint64_t attrs_size(const struct perfdata_writer *writer)
{
	return writer->event_count * (writer->attr_bytes + sizeof(struct format_section));
}

uint64_t writer_ids_offset(const struct perfdata_writer *writer, size_t event_index)
{
	return attrs_offset() + attrs_size(writer) +
	       event_index * writer->max_ids * sizeof(uint64_t);
}

static struct error *write_ids(struct perfdata_writer *writer, size_t event_index)
{
	const struct perfdata_event *event = &writer->events[event_index];

	buffer_clear(&writer->scratch);
	for (size_t i = 0; i < event->id_count; i++)
		buffer_append_u64(&writer->scratch, event->ids[i].id);
	return writer_write_at(writer, writer_ids_offset(writer, event_index), writer->scratch.data,
			       writer->scratch.size);
}

/* The ids first, so that an attr never counts ids that are not there yet. */
static struct error *write_attrs(struct perfdata_writer *writer)
{
	struct error *error = NULL;

	for (size_t i = 0; i < writer->event_count && !error; i++)
		error = write_ids(writer, i);
	if (error)
		return error;
	buffer_clear(&writer->scratch);
	for (size_t i = 0; i < writer->event_count; i++) {
		writer_put_attr(writer, &writer->events[i].attr, &writer->scratch);
		buffer_append_u64(&writer->scratch, writer_ids_offset(writer, i));
		buffer_append_u64(&writer->scratch, writer->events[i].id_count * sizeof(uint64_t));
	}
	error = writer_write_at(writer, attrs_offset(), writer->scratch.data, writer->scratch.size);
	if (!error)
		writer->ids_changed = false;
	return error;
}

static struct error *write_header(struct perfdata_writer *writer, const uint64_t *features)
{
	struct format_header header = {
		.magic = FORMAT_MAGIC,
		.size = sizeof(header),
		.attr_size = writer->attr_bytes + sizeof(struct format_section),
		.attrs = { attrs_offset(), attrs_size(writer) },
		.data = { writer->data_offset, writer->data_bytes },
	};

	if (features)
		memcpy(header.features, features, sizeof(header.features));
	return writer_write_at(writer, 0, &header, sizeof(header));
}

/* Writes pending data to the file; after a failure it is still pending. */
static struct error *spill(struct perfdata_writer *writer)
{
	struct error *error;

	if (!writer->pending.size)
		return NULL;
	error = writer_write_at(writer, writer_data_end(writer), writer->pending.data,
				writer->pending.size);
	if (error)
		return error;
	writer->data_bytes += writer->pending.size;
	buffer_clear(&writer->pending);
	return NULL;
}

struct error *perfdata_writer_flush(struct perfdata_writer *writer)
{
	struct error *error = writer->compress ? writer_compress_flush(writer) : NULL;

	if (!error)
		error = spill(writer);
	if (error || writer->pipe)
		return error;
	if (writer->ids_changed)
		error = write_attrs(writer);
	if (!error)
		error = write_header(writer, NULL);
	if (!error && writer->unnamed)
		error = writer_name_file(writer);
	if (!error && writer->sync)
		writer_sync_start(writer->sync);
	return error;
}

/* Checks that RECORDS are complete, and notes the times of the samples among them. */
static bool note_records(struct perfdata_writer *writer, const uint8_t *records, size_t size)
{
	size_t offset = 0;

	while (offset < size) {
		struct perf_event_header header;
		uint64_t time_ns;

		if (size - offset < sizeof(header))
			return false;
		memcpy(&header, records + offset, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - offset)
			return false;
		if (header.type == PERF_RECORD_SAMPLE && writer->time_offset &&
		    header.size >= writer->time_offset + sizeof(time_ns)) {
			memcpy(&time_ns, records + offset + writer->time_offset, sizeof(time_ns));
			if (time_ns < writer->first_sample_ns)
				writer->first_sample_ns = time_ns;
			if (time_ns > writer->last_sample_ns)
				writer->last_sample_ns = time_ns;
		}
		offset += header.size;
	}
	return true;
}

struct error *writer_append_payload(struct perfdata_writer *writer, const void *data, size_t size)
{
	struct error *error;

	if (size > WRITER_PENDING_BYTES - writer->pending.size) {
		error = spill(writer);
		if (error)
			return error;
	}
	if (size <= WRITER_PENDING_BYTES) {
		buffer_append(&writer->pending, data, size);
		return NULL;
	}
	error = writer_write_at(writer, writer_data_end(writer), data, size);
	if (!error)
		writer->data_bytes += size;
	return error;
}

void perfdata_writer_hold(struct perfdata_writer *writer, struct buffer *hold)
{
	writer->hold = hold;
}

struct error *perfdata_writer_append(struct perfdata_writer *writer, const void *records,
				     size_t size)
{
	if (!writer->hold)
		return writer_append(writer, records, size);
	buffer_append(writer->hold, records, size);
	return NULL;
}

struct error *writer_append(struct perfdata_writer *writer, const void *records, size_t size)
{
	if (!note_records(writer, records, size))
		return error_create(ERROR_BAD_DATA, "a record for '%s' has an impossible size",
				    writer->path);
	return writer->compress ? writer_compress_append(writer, records, size)
				: writer_append_payload(writer, records, size);
}

bool perfdata_writer_has_name(const struct perfdata_writer *writer)
{
	return !writer->unnamed;
}

uint64_t perfdata_writer_bytes(const struct perfdata_writer *writer)
{
	uint64_t bytes = writer_data_end(writer) + writer->pending.size;
	struct stat stat;

	/* What comes after the data is there when the file is finished. */
	if (!writer->pipe && !fstat(writer->fd, &stat) && (uint64_t)stat.st_size > bytes)
		bytes = stat.st_size;
	return bytes;
}

/* What is to be in the stream: all that was not told yet, and that this is the end. */
static struct error *write_last_notes(struct perfdata_writer *writer,
				      const struct perfdata_writer_features *features)
{
	struct error *error = NULL;
	uint32_t number;

	for (size_t i = 0; i < features->symbols_count && !error; i++)
		error = perfdata_writer_symbols(writer, &features->symbols[i], &number);
	if (!error && writer->pipe)
		error = writer_end_features(writer, features);
	if (!error && writer->pipe && features->inventory)
		error = perfdata_writer_inventory(writer, features->inventory);
	return error ? error : writer_note(writer, NOTE_END, NULL, 0);
}

struct error *perfdata_writer_finish(struct perfdata_writer *writer,
				     const struct perfdata_writer_features *features)
{
	uint64_t bits[FORMAT_FEATURE_BITS / 64] = { 0 };
	struct error *error = write_last_notes(writer, features);

	if (!error)
		error = perfdata_writer_flush(writer);
	if (error || writer->pipe)
		return error;
	error = writer_write_features(writer, features, bits);
	if (!error)
		error = write_header(writer, bits);
	return error;
}

void writer_note_id(struct perfdata_writer *writer, size_t event_index,
		    const struct perfdata_id *id)
{
	uint64_t *first = map_insert(&writer->id_of_machine, id->machine_pid, NULL);

	*map_insert(&writer->event_of_id, id->id, NULL) = event_index;
	if (!*first)
		*first = id->id;
}

struct error *perfdata_writer_add_id(struct perfdata_writer *writer, size_t event_index,
				     const struct perfdata_id *spec, uint64_t *ret_id)
{
	struct perfdata_event *event = &writer->events[event_index];
	struct perfdata_id id = *spec;
	struct error *error;

	if (event->id_count >= writer->max_ids)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' has room for %zu vCPUs and threads, and one more came",
				    writer->path, writer->max_ids);
	id.id = writer->next_ids ? writer->next_ids[event_index] : writer->last_id + 1;
	error = writer_id_index(writer, &id, 1);
	if (error)
		return error;
	if (writer->next_ids)
		writer->next_ids[event_index]++;
	writer->last_id = id.id;
	writer->ids_changed = true;
	event->ids = memory_resize(event->ids, event->id_count + 1, sizeof(*event->ids));
	event->ids[event->id_count++] = id;
	writer_note_id(writer, event_index, &id);
	if (event->id_count == 1 && !writer->pipe)
		error = writer_event_name(writer, event, id.id);
	if (!error)
		*ret_id = id.id;
	return error;
}
