/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of perf's user space about the recording itself: the attrs, features and names of the
 * pipe form, which has no header for them, and ID_INDEX, which gives each id its VM, vCPU, thread
 * and CPU.
 *
 * Source: tools/perf/util/header.c (perf_event__process_attr(), …_event_update(), …_feature()) and
 * session.c (perf_event__process_id_index()).
 */
#include <string.h>

#include "base/cursor.h"
#include "perfdata/reader_state.h"
#include "perfdata/tracing_data.h"

static struct cursor body_cursor(const struct perfdata_reader *reader,
				 const struct perfdata_record *record)
{
	return cursor_make(record->body, record->body_bytes, reader->swap);
}

static struct error *malformed(const char *what)
{
	return error_create(ERROR_BAD_DATA, "malformed %s record", what);
}

/* A perf_event_attr that contains its own size, then ids up to the end of the record. */
static struct error *take_attr(struct perfdata_reader *reader,
			       const struct perfdata_record *record)
{
	struct cursor cursor = body_cursor(reader, record);
	struct perf_event_attr attr;
	size_t event_index = reader->events.count;
	uint32_t bytes;

	if (!reader->pipe_form)
		return NULL; /* they are all in the header */
	cursor_skip(&cursor, 4);
	bytes = cursor_u32(&cursor);
	if (bytes < PERF_ATTR_SIZE_VER0)
		bytes = PERF_ATTR_SIZE_VER0;
	cursor.offset = 0;
	if (!cursor_bytes(&cursor, bytes))
		return malformed("HEADER_ATTR");
	perfdata_attr_decode(record->body, bytes, reader->swap, &attr);
	if (!perfdata_ids_add_event(reader, &attr))
		return error_create(ERROR_BAD_DATA, "more than %d events", READER_MAX_EVENTS);
	while (cursor_left(&cursor) >= sizeof(uint64_t))
		if (!perfdata_ids_add(reader, event_index, cursor_u64(&cursor)))
			return error_create(ERROR_BAD_DATA, "more than %zu ids", READER_MAX_IDS);
	return NULL;
}

static struct error *take_event_update(struct perfdata_reader *reader,
				       const struct perfdata_record *record)
{
	struct cursor cursor = body_cursor(reader, record);
	uint64_t what = cursor_u64(&cursor), id = cursor_u64(&cursor);
	struct perfdata_event *event;
	const char *name;
	size_t event_index;

	if (cursor.failed)
		return malformed("EVENT_UPDATE");
	if (what == FORMAT_EVENT_UPDATE_NOTE)
		perfdata_notes_take_piece(reader, &cursor);
	if (what != FORMAT_EVENT_UPDATE_NAME || !perfdata_ids_find(reader, id, &event_index))
		return NULL;
	name = cursor_string_field(&cursor, cursor_left(&cursor));
	if (!name)
		return malformed("EVENT_UPDATE");
	event = reader->events.items[event_index];
	free(event->name);
	event->name = memory_strdup(name);
	return NULL;
}

/*
 * Finds the entry of an id. An id that is not in the header was added during recording, by a writer
 * that was killed before it could list it: if there is only one event, it belongs to that.
 */
static struct perfdata_id *indexed_id(struct perfdata_reader *reader, uint64_t id)
{
	struct perfdata_id *found;
	size_t event_index;

	found = perfdata_ids_find(reader, id, &event_index);
	if (found || !id || reader->events.count != 1 || !perfdata_ids_add(reader, 0, id))
		return found;
	return perfdata_ids_find(reader, id, &event_index);
}

static struct error *take_id_index(struct perfdata_reader *reader,
				   const struct perfdata_record *record)
{
	struct cursor cursor = body_cursor(reader, record), guests;
	uint64_t count = cursor_u64(&cursor);
	bool has_guests;

	if (cursor.failed || count > cursor_left(&cursor) / sizeof(struct format_id_entry))
		return malformed("ID_INDEX");
	guests = cursor;
	cursor_skip(&guests, count * sizeof(struct format_id_entry));
	has_guests = cursor_left(&guests) >= count * sizeof(struct format_id_guest_entry);
	for (uint64_t i = 0; i < count; i++) {
		struct perfdata_id *id = indexed_id(reader, cursor_u64(&cursor));
		uint64_t cpu, tid;

		cursor_skip(&cursor, sizeof(uint64_t));
		cpu = cursor_u64(&cursor);
		tid = cursor_u64(&cursor);
		if (id) {
			id->cpu = cpu;
			id->tid = tid == UINT64_MAX ? 0 : tid;
		}
		if (!has_guests)
			continue;
		cpu = cursor_u64(&guests);
		tid = cursor_u64(&guests);
		if (id) {
			id->machine_pid = cpu;
			id->vcpu = tid;
		}
	}
	return NULL;
}

static struct error *take_feature(struct perfdata_reader *reader,
				  const struct perfdata_record *record)
{
	struct cursor cursor = body_cursor(reader, record);
	uint64_t feature = cursor_u64(&cursor);
	const void *data = record->body + sizeof(uint64_t);
	size_t size = cursor_left(&cursor);

	if (cursor.failed)
		return malformed("HEADER_FEATURE");
	/* It is kept, but what was decompressed, or fed, is not. */
	if ((reader->inflating || reader->feed.given) && feature < PERFDATA_RAW_FEATURES) {
		if (reader->features.raw[feature].data)
			return NULL;
		data = memcpy(arena_alloc(reader->arena, size + 1), data, size);
	}
	if (feature < FORMAT_FEATURE_BITS)
		perfdata_feature_take(reader, feature, data, size);
	return NULL;
}

/* Names of the tracepoints that are events, once each however often the data have them. */
struct tracepoint_names {
	struct map places; /* config of an event -> place in names + 1, 0: not found */
	VECTOR(char *) names;
};

static void collect_names(const struct perfdata_reader *reader, struct perfdata_tracing *tracing,
			  struct tracepoint_names *ret)
{
	struct perfdata_tracing_format format;
	char name[256];
	uint64_t id;

	while (perfdata_tracing_next(tracing, &format)) {
		uint64_t *place = perfdata_tracing_name(&format, name, &id)
					  ? map_find(&ret->places, id)
					  : NULL;

		if (!place || *place || ret->names.count >= reader->events.count)
			continue;
		vector_append(&ret->names, memory_printf("%s:%s", format.system, name));
		*place = ret->names.count;
	}
}

/* Where the recording gives EVENT no name. */
static void name_tracepoint(struct perfdata_event *event, const struct tracepoint_names *names)
{
	const uint64_t *place = map_find(&names->places, event->attr.config);
	_cleanup_free_ char *unnamed = perfdata_attr_name(&event->attr);

	if (!place || !*place || strcmp(event->name, unnamed))
		return;
	free(event->name);
	event->name = memory_strdup(names->names.items[*place - 1]);
}

/* perf wrote none into pipes before Linux 4.17: evlist__prepare_tracepoint_events() there. */
static void name_tracepoints(struct perfdata_reader *reader)
{
	struct tracepoint_names names = { 0 };
	struct perfdata_tracing tracing;

	if (!perfdata_tracing_open(reader->features.tracing_data,
				   reader->features.tracing_data_bytes, &tracing))
		return;
	map_init(&names.places);
	for (size_t i = 0; i < reader->events.count; i++)
		if (reader->events.items[i]->attr.type == PERF_TYPE_TRACEPOINT)
			map_insert(&names.places, reader->events.items[i]->attr.config, NULL);
	collect_names(reader, &tracing, &names);
	for (size_t i = 0; i < reader->events.count; i++)
		if (reader->events.items[i]->attr.type == PERF_TYPE_TRACEPOINT)
			name_tracepoint(reader->events.items[i], &names);
	for (size_t i = 0; i < names.names.count; i++)
		free(names.names.items[i]);
	vector_deinit(&names.names);
	map_deinit(&names.places);
}

static struct error *take_tracing_data(struct perfdata_reader *reader,
				       const struct perfdata_record *record)
{
	const void *data = record->body + record->body_bytes;
	size_t size = perfdata_stream_payload(reader, record);

	if (reader->feed.given) { /* as of features: it is kept */
		if (reader->features.tracing_data)
			return NULL;
		data = memcpy(arena_alloc(reader->arena, size + 1), data, size);
	}
	perfdata_feature_take(reader, FEATURE_TRACING_DATA, data, size);
	name_tracepoints(reader);
	return NULL;
}

struct error *perfdata_stream_take(struct perfdata_reader *reader,
				   const struct perfdata_record *record)
{
	switch (record->type) {
	case RECORD_HEADER_ATTR:
		return take_attr(reader, record);
	case RECORD_EVENT_UPDATE:
		return take_event_update(reader, record);
	case RECORD_ID_INDEX:
		return take_id_index(reader, record);
	case RECORD_HEADER_FEATURE:
		return take_feature(reader, record);
	case RECORD_HEADER_BUILD_ID:
		if (!perfdata_feature_take_build_id(
			    reader, record->body - sizeof(struct perf_event_header), record->size))
			return malformed("HEADER_BUILD_ID");
		return NULL;
	case RECORD_HEADER_TRACING_DATA:
		return take_tracing_data(reader, record);
	}
	return NULL;
}

uint64_t perfdata_stream_payload(const struct perfdata_reader *reader,
				 const struct perfdata_record *record)
{
	struct cursor cursor = body_cursor(reader, record);

	if (record->type == RECORD_HEADER_TRACING_DATA)
		return cursor_u32(&cursor);
	if (record->type == RECORD_AUXTRACE)
		return cursor_u64(&cursor);
	return 0;
}
