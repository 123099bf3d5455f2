/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening a recording to be written. A file gets its name with the first flush: under that name
 * there is the older recording, then one that can be read, never something in between.
 * Where the file system has no files without a name (O_TMPFILE), it has it from the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "perfdata/sample_fields.h"
#include "perfdata/writer/writer_state.h"

/*
 * perf rejects a file with attrs larger than those it knows (read_attr()), so fields of newer
 * kernels that no event uses are left out: Linux 5.16 to 6.2 have this size.
 */
#define SMALLEST_ATTR_BYTES 128
/* What may differ: evlist__valid_read_format() of perf wants PERF_FORMAT_ID alone. */
#define READ_FORMAT_OWN ((uint64_t)PERF_FORMAT_GROUP)
/* A record is at most 65,535 bytes: as many ids fit into HEADER_ATTR. */
#define PIPE_MAX_IDS ((size_t)8000)

/* *RET: whether a file is at PATH that is worth keeping. */
static struct error *look_at(const char *path, bool *ret)
{
	struct stat status;

	*ret = false;
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
	*ret = status.st_size > 0;
	return NULL;
}

/* Renames an older file at PATH to PATH.old, like perf; an empty one is deleted. */
static struct error *make_room(const char *path)
{
	_cleanup_free_ char *old = perfdata_path_with(path, "old");
	struct error *error;
	bool keep;

	error = look_at(path, &keep);
	if (error)
		return error;
	if (keep && rename(path, old) < 0)
		return error_system(errno, "could not rename '%s' to '%s'", path, old);
	if (!keep && !access(path, F_OK) && unlink(path) < 0)
		return error_system(errno, "could not replace '%s'", path);
	return NULL;
}

static struct error *create_named(const char *path, int *ret_fd)
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

static struct error *create_file(const char *path, int *ret_fd, bool *ret_unnamed)
{
	_cleanup_free_ char *copy = memory_strdup(path);
	struct error *error;
	bool ignored;
	int fd;

	error = look_at(path, &ignored);
	if (error)
		return error;
	fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	*ret_unnamed = fd >= 0;
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		return create_named(path, ret_fd);
	if (fd < 0)
		return error_system(errno, "could not create '%s'", path);
	*ret_fd = fd;
	return NULL;
}

struct error *writer_name_file(struct perfdata_writer *writer)
{
	_cleanup_free_ char *from = memory_printf("/proc/self/fd/%d", writer->fd);
	struct error *error = make_room(writer->path);

	if (error)
		return error;
	/* As with O_EXCL: it is an error where something has appeared meanwhile. */
	if (linkat(AT_FDCWD, from, AT_FDCWD, writer->path, AT_SYMLINK_FOLLOW) < 0)
		return error_system(errno, "could not create '%s'", writer->path);
	writer->unnamed = false;
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
		    (attr->read_format ^ events[0].attr.read_format) & ~READ_FORMAT_OWN ||
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
		copy->group_rank = events[i].group_rank;
		copy->group_size = events[i].group_size;
		if (events[i].group_name)
			copy->group_name = memory_strdup(events[i].group_name);
		copy->id_count = events[i].id_count;
		if (copy->id_count)
			copy->ids = memory_dup(events[i].ids, copy->id_count * sizeof(*copy->ids));
		if (copy->id_count > writer->max_ids)
			writer->max_ids = copy->id_count;
		for (size_t j = 0; j < copy->id_count; j++) {
			writer_note_id(writer, i, &copy->ids[j]);
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
	writer->data_offset = writer_ids_offset(writer, event_count);
	buffer_init(&writer->pending, WRITER_PENDING_BYTES);
	buffer_init(&writer->scratch, SIZE_MAX);
	writer->ids_changed = true;
	return writer;
}

/* What every reader must know of the events before their first sample. */
static struct error *introduce_events(struct perfdata_writer *writer)
{
	struct error *error = writer->pipe ? writer_begin_pipe(writer) : NULL;

	for (size_t i = 0; i < writer->event_count && !error; i++) {
		const struct perfdata_event *event = &writer->events[i];

		if (event->id_count)
			error = writer_id_index(writer, event->ids, event->id_count);
		if (event->id_count && !error && !writer->pipe)
			error = writer_event_name(writer, event, event->ids[0].id);
	}
	return error;
}

struct error *perfdata_writer_create(const char *path, const struct perfdata_event *events,
				     size_t event_count, size_t max_ids,
				     struct perfdata_writer **ret)
{
	_cleanup_perfdata_writer_ struct perfdata_writer *writer = NULL;
	struct error *error = check_events(events, event_count);
	bool unnamed = false;
	int fd = -1;

	if (!error)
		error = create_file(path, &fd, &unnamed);
	if (error)
		return error;
	writer = create_writer(path, events, event_count, max_ids, fd);
	writer->unnamed = unnamed;
	error = introduce_events(writer);
	if (error)
		return error;
	writer->sync = writer_sync_create(fd);
	*ret = take_pointer(writer);
	return NULL;
}

struct error *perfdata_writer_create_pipe(int fd, const struct perfdata_event *events,
					  size_t event_count, size_t max_ids,
					  struct perfdata_writer **ret)
{
	_cleanup_perfdata_writer_ struct perfdata_writer *writer = NULL;
	struct error *error = check_events(events, event_count);

	if (error)
		return error;
	if (max_ids > PIPE_MAX_IDS)
		max_ids = PIPE_MAX_IDS;
	writer = create_writer("standard output", events, event_count, max_ids, fd);
	writer->pipe = true;
	writer->data_offset = 0;
	error = introduce_events(writer);
	if (!error)
		*ret = take_pointer(writer);
	return error;
}

void perfdata_writer_destroy(struct perfdata_writer *writer)
{
	if (!writer)
		return;
	writer_sync_destroy(writer->sync);
	if (!writer->pipe)
		close(writer->fd);
	for (size_t i = 0; i < writer->event_count; i++) {
		free(writer->events[i].name);
		free(writer->events[i].group_name);
		free(writer->events[i].ids);
	}
	free(writer->events);
	map_deinit(&writer->event_of_id);
	map_deinit(&writer->id_of_machine);
	buffer_deinit(&writer->pending);
	buffer_deinit(&writer->scratch);
	writer_forget_notes(writer);
	writer_compress_destroy(writer->compress);
	free(writer->next_ids);
	free(writer->path);
	free(writer);
}
