/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording's file.
 *
 * 	format_header | an attr and the location of its ids, per event | room for the ids, per
 * 	event | records … | table of the feature sections, sections (writer_features.c)
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.c
 * (perf_session__do_write_header(), perf_session__read_header()).
 *
 * Records are collected in memory and written PENDING_BYTES at a time. The header is written last,
 * after everything that it describes: whenever the recorder dies, the file is in the state of the
 * last flush, with some extra bytes at its end. Every id used by a record in the file is in the
 * header, too: perf gives up on a file whose ID_INDEX has an unknown id
 * (perf_event__process_id_index()).
 *
 * Limits: ids are never removed; an event's attr does not change.
 */
#include "perfdata/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "perfdata/sample_fields.h"
#include "perfdata/writer_state.h"

#define PENDING_BYTES (1 << 20)
/*
 * perf rejects a file with attrs larger than those it knows (read_attr()), so fields of newer
 * kernels that no event uses are left out: Linux 5.16 to 6.2 have this size.
 */
#define SMALLEST_ATTR_BYTES 128

struct error *writer_write_at(struct perfdata_writer *writer, uint64_t offset, const void *data,
			      size_t size)
{
	if (lseek(writer->fd, offset, SEEK_SET) < 0)
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

static uint64_t ids_offset(const struct perfdata_writer *writer, size_t event_index)
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
	return writer_write_at(writer, ids_offset(writer, event_index), writer->scratch.data,
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
		buffer_append_u64(&writer->scratch, ids_offset(writer, i));
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
	struct error *error = spill(writer);

	if (!error && writer->ids_changed)
		error = write_attrs(writer);
	if (!error)
		error = write_header(writer, NULL);
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

struct error *perfdata_writer_append(struct perfdata_writer *writer, const void *records,
				     size_t size)
{
	struct error *error;

	if (size > PENDING_BYTES - writer->pending.size) {
		error = spill(writer);
		if (error)
			return error;
	}
	if (!note_records(writer, records, size))
		return error_create(ERROR_BAD_DATA, "a record for '%s' has an impossible size",
				    writer->path);
	if (size <= PENDING_BYTES) {
		buffer_append(&writer->pending, records, size);
		return NULL;
	}
	error = writer_write_at(writer, writer_data_end(writer), records, size);
	if (!error)
		writer->data_bytes += size;
	return error;
}

uint64_t perfdata_writer_bytes(const struct perfdata_writer *writer)
{
	uint64_t bytes = writer_data_end(writer) + writer->pending.size;
	struct stat stat;

	/* Everything after the data is written when the file is finished. */
	return !fstat(writer->fd, &stat) && (uint64_t)stat.st_size > bytes ? stat.st_size : bytes;
}

struct error *perfdata_writer_finish(struct perfdata_writer *writer,
				     const struct perfdata_writer_features *features)
{
	uint64_t bits[FORMAT_FEATURE_BITS / 64] = { 0 };
	struct error *error = perfdata_writer_flush(writer);

	if (!error)
		error = writer_write_features(writer, features, bits);
	if (!error)
		error = write_header(writer, bits);
	return error;
}

static void note_id(struct perfdata_writer *writer, size_t event_index,
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
				    "'%s' has room for only %zu vCPUs and threads", writer->path,
				    writer->max_ids);
	id.id = writer->last_id + 1;
	error = writer_id_index(writer, &id, 1);
	if (error)
		return error;
	writer->last_id = id.id;
	writer->ids_changed = true;
	event->ids = memory_resize(event->ids, event->id_count + 1, sizeof(*event->ids));
	event->ids[event->id_count++] = id;
	note_id(writer, event_index, &id);
	if (event->id_count == 1)
		error = writer_event_name(writer, event);
	if (!error)
		*ret_id = id.id;
	return error;
}

/* Renames an older file at PATH to PATH.old, like perf; an empty one is deleted. */
static struct error *make_room(const char *path)
{
	_cleanup_free_ char *old = memory_printf("%s.old", path);
	struct stat status;

	if (stat(path, &status) < 0) {
		if (errno == ENOENT)
			return NULL;
		return error_system(errno, "could not stat '%s'", path);
	}
	if (!S_ISREG(status.st_mode))
		return error_hint(error_create(ERROR_UNSUPPORTED,
					       "'%s' is not a regular file; it was not replaced",
					       path),
				  "choose another file with -o");
	if (!status.st_size && unlink(path) < 0)
		return error_system(errno, "could not replace '%s'", path);
	if (status.st_size && rename(path, old) < 0)
		return error_system(errno, "could not rename '%s' to '%s'", path, old);
	return NULL;
}

static struct error *create_file(const char *path, int *ret_fd)
{
	struct error *error = make_room(path);
	int fd;

	if (error)
		return error;
	/*
	 * O_EXCL: never write to anything that appears at PATH in the meantime, especially not a
	 * symlink.
	 */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_system(errno, "could not create '%s'", path);
	*ret_fd = fd;
	return NULL;
}

/* The offset of the time in a sample of this type; 0 if it has none. */
static size_t sample_time_offset(uint64_t sample_type)
{
	if (!(sample_type & PERF_SAMPLE_TIME))
		return 0;
	return sizeof(struct perf_event_header) +
	       8 * sample_words_before(sample_type, PERF_SAMPLE_TIME);
}

static struct error *check_events(const struct perfdata_event *events, size_t event_count)
{
	for (size_t i = 0; i < event_count; i++) {
		const struct perf_event_attr *attr = &events[i].attr;

		if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_IDENTIFIER) ||
		    attr->read_format != events[0].attr.read_format ||
		    sample_time_offset(attr->sample_type) !=
			    sample_time_offset(events[0].attr.sample_type))
			return error_create(ERROR_UNSUPPORTED,
					    "event '%s' cannot share a file with the others",
					    events[i].name);
	}
	if (!event_count)
		return error_create(ERROR_UNSUPPORTED, "a recording needs at least one event");
	return NULL;
}

/* The size of an attr without the fields at its end that no event uses. */
static uint32_t needed_attr_bytes(const struct perfdata_event *events, size_t event_count)
{
	static const uint8_t unused[sizeof(struct perf_event_attr)];
	size_t whole = sizeof(struct perf_event_attr);

	for (size_t i = 0; i < event_count && whole > SMALLEST_ATTR_BYTES; i++) {
		if (memcmp((const uint8_t *)&events[i].attr + SMALLEST_ATTR_BYTES, unused,
			   whole - SMALLEST_ATTR_BYTES) != 0)
			return whole;
	}
	return whole < SMALLEST_ATTR_BYTES ? whole : SMALLEST_ATTR_BYTES;
}

static void copy_events(struct perfdata_writer *writer, const struct perfdata_event *events)
{
	writer->events = memory_calloc(writer->event_count, sizeof(*events));
	for (size_t i = 0; i < writer->event_count; i++) {
		struct perfdata_event *copy = &writer->events[i];

		copy->attr = events[i].attr;
		copy->name = memory_strdup(events[i].name);
		copy->id_count = events[i].id_count;
		if (copy->id_count)
			copy->ids = memory_dup(events[i].ids, copy->id_count * sizeof(*copy->ids));
		if (copy->id_count > writer->max_ids)
			writer->max_ids = copy->id_count;
		for (size_t j = 0; j < copy->id_count; j++) {
			note_id(writer, i, &copy->ids[j]);
			if (copy->ids[j].id > writer->last_id)
				writer->last_id = copy->ids[j].id;
		}
	}
}

static struct perfdata_writer *create_writer(const char *path, const struct perfdata_event *events,
					     size_t event_count, size_t max_ids, int fd)
{
	struct perfdata_writer *writer = memory_calloc(1, sizeof(*writer));

	writer->path = memory_strdup(path);
	writer->fd = fd;
	writer->event_count = event_count;
	writer->max_ids = max_ids;
	writer->attr_bytes = needed_attr_bytes(events, event_count);
	writer->time_offset = sample_time_offset(events[0].attr.sample_type);
	writer->first_sample_ns = UINT64_MAX;
	map_init(&writer->event_of_id);
	map_init(&writer->id_of_machine);
	copy_events(writer, events);
	writer->data_offset = ids_offset(writer, event_count);
	buffer_init(&writer->pending, PENDING_BYTES);
	buffer_init(&writer->scratch, SIZE_MAX);
	writer->ids_changed = true;
	return writer;
}

struct error *perfdata_writer_create(const char *path, const struct perfdata_event *events,
				     size_t event_count, size_t max_ids,
				     struct perfdata_writer **ret)
{
	_cleanup_perfdata_writer_ struct perfdata_writer *writer = NULL;
	struct error *error = check_events(events, event_count);
	int fd = -1;

	if (!error)
		error = create_file(path, &fd);
	if (error)
		return error;
	writer = create_writer(path, events, event_count, max_ids, fd);
	for (size_t i = 0; i < event_count && !error; i++) {
		const struct perfdata_event *event = &writer->events[i];

		if (event->id_count)
			error = writer_id_index(writer, event->ids, event->id_count);
		if (event->id_count && !error)
			error = writer_event_name(writer, event);
	}
	if (!error)
		error = perfdata_writer_flush(writer);
	if (!error)
		*ret = take_pointer(writer);
	return error;
}

void perfdata_writer_destroy(struct perfdata_writer *writer)
{
	if (!writer)
		return;
	close(writer->fd);
	for (size_t i = 0; i < writer->event_count; i++) {
		free(writer->events[i].name);
		free(writer->events[i].ids);
	}
	free(writer->events);
	map_deinit(&writer->event_of_id);
	map_deinit(&writer->id_of_machine);
	buffer_deinit(&writer->pending);
	buffer_deinit(&writer->scratch);
	free(writer->path);
	free(writer);
}
