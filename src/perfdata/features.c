/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The features of a recording: descriptions of the machine and the recording, from the header's
 * sections or from HEADER_FEATURE records of the pipe form.
 *
 * Source: tools/perf/util/header.c (the write_…() and process_…() of each feature). Limits: 1 Mi
 * build-ids, 4,096 words of command line.
 */
#include <string.h>

#include "base/cursor.h"
#include "perfdata/reader_state.h"

#define MAX_BUILD_IDS (1 << 20)
#define MAX_ARGUMENTS 4096
/* The limit for the decompressed size of one record, whatever the file claims. */
#define INFLATE_MAX_BYTES ((uint64_t)1 << 30)

/* u32 length, then that many bytes, with a terminator somewhere among them. */
static const char *read_string(struct cursor *cursor)
{
	uint32_t length = cursor_u32(cursor);

	return cursor_string_field(cursor, length);
}

static void take_string(struct perfdata_reader *reader, struct cursor *cursor, const char **ret)
{
	const char *text = read_string(cursor);

	if (text)
		*ret = arena_strndup(reader->arena, text, strlen(text));
}

static void take_cpu_counts(struct perfdata_features *features, struct cursor *cursor)
{
	uint32_t available = cursor_u32(cursor), online = cursor_u32(cursor);

	if (cursor->failed)
		return;
	features->cpus_available = available;
	features->cpus_online = online;
}

static void take_command_line(struct perfdata_reader *reader, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);
	_cleanup_buffer_ struct buffer line;

	buffer_init(&line, cursor_left(cursor) + 1);
	for (uint32_t i = 0; i < count && i < MAX_ARGUMENTS; i++) {
		const char *word = read_string(cursor);

		if (!word)
			return;
		if (i)
			buffer_append_u8(&line, ' ');
		buffer_append_string(&line, word);
	}
	if (line.size)
		reader->features.cmdline = arena_strndup(reader->arena, (const char *)line.data,
							 line.size);
}

static void take_sample_time(struct perfdata_features *features, struct cursor *cursor)
{
	uint64_t first = cursor_u64(cursor), last = cursor_u64(cursor);

	if (cursor->failed)
		return;
	features->first_sample_ns = first;
	features->last_sample_ns = last;
}

/*
 * u32 events, u32 size of an attr, then for each: the attr, u32 ids, its name, the ids. The events
 * are in the order of the header's attrs.
 */
static void take_event_names(struct perfdata_reader *reader, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor), attr_bytes = cursor_u32(cursor);

	if (count != reader->events.count)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct perfdata_event *event = reader->events.items[i];
		uint32_t id_count;
		const char *name;

		cursor_skip(cursor, attr_bytes);
		id_count = cursor_u32(cursor);
		name = read_string(cursor);
		cursor_skip(cursor, (size_t)id_count * sizeof(uint64_t));
		if (cursor->failed)
			return;
		if (*name) {
			free(event->name);
			event->name = memory_strdup(name);
		}
	}
}

/* One of the groups: COUNT events from the one numbered LEADER on. */
static void take_group(struct perfdata_reader *reader, const char *name, uint32_t leader,
		       uint32_t count)
{
	struct perfdata_event *first;

	if (leader >= reader->events.count || count > reader->events.count - leader || count < 2)
		return;
	for (uint32_t i = 0; i < count; i++)
		if (reader->events.items[leader + i]->group_rank ||
		    reader->events.items[leader + i]->group_size)
			return; /* no event is in two */
	first = reader->events.items[leader];
	first->group_size = count;
	if (strcmp(name, FORMAT_GROUP_WITHOUT_NAME))
		first->group_name = memory_strdup(name);
	for (uint32_t i = 1; i < count; i++)
		reader->events.items[leader + i]->group_rank = i;
}

static void take_groups(struct perfdata_reader *reader, struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	for (uint32_t i = 0; i < count; i++) {
		const char *name = read_string(cursor);
		uint32_t leader = cursor_u32(cursor), events = cursor_u32(cursor);

		if (cursor->failed || !name)
			return;
		take_group(reader, name, leader, events);
	}
}

bool perfdata_feature_take_build_id(struct perfdata_reader *reader, const void *record,
				    size_t size)
{
	struct cursor cursor = cursor_make(record, size, reader->swap);
	struct perfdata_build_id entry = { .size = sizeof(entry.bytes) };
	const uint8_t *bytes;
	const char *path;
	uint16_t misc;

	cursor_skip(&cursor, offsetof(struct perf_event_header, misc));
	misc = cursor_u16(&cursor);
	cursor_skip(&cursor, sizeof(uint16_t));
	entry.pid = cursor_u32(&cursor);
	bytes = cursor_bytes(&cursor, sizeof(entry.bytes));
	if (misc & FORMAT_MISC_BUILD_ID_SIZE)
		entry.size = cursor_u8(&cursor);
	else
		cursor_skip(&cursor, 1);
	cursor_skip(&cursor, 3);
	path = cursor_string_field(&cursor, cursor_left(&cursor));
	if (cursor.failed || entry.size > sizeof(entry.bytes) ||
	    reader->build_ids.count >= MAX_BUILD_IDS)
		return false;
	memcpy(entry.bytes, bytes, entry.size);
	entry.misc = misc & PERF_RECORD_MISC_CPUMODE_MASK;
	entry.path = arena_strndup(reader->arena, path, strlen(path));
	vector_append(&reader->build_ids, entry);
	reader->features.build_ids = reader->build_ids.items;
	reader->features.build_id_count = reader->build_ids.count;
	return true;
}

static void take_build_ids(struct perfdata_reader *reader, struct cursor *cursor)
{
	while (cursor_left(cursor) >= sizeof(struct format_build_id)) {
		struct cursor head = *cursor;
		uint16_t size;

		cursor_skip(&head, offsetof(struct perf_event_header, size));
		size = cursor_u16(&head);
		if (size > cursor_left(cursor) ||
		    !perfdata_feature_take_build_id(reader, cursor->data + cursor->offset, size))
			return;
		cursor_skip(cursor, size);
	}
}

static void take_inventory(struct perfdata_reader *reader, const void *data, size_t size)
{
	struct perfdata_inventory inventory;
	_cleanup_error_ struct error *error = NULL;

	if (reader->inventory)
		return;
	error = perfdata_inventory_decode(data, size, reader->swap, &inventory);
	if (error)
		return;
	reader->inventory = memory_alloc(sizeof(inventory));
	*reader->inventory = inventory;
}

/* perf never puts more into one compressed record than fits in its ring buffer: mmap_len. */
static void take_compression(struct perfdata_reader *reader, struct cursor *cursor)
{
	uint32_t buffer_bytes;

	cursor_skip(cursor, 4 * sizeof(uint32_t)); /* version, type, level, ratio */
	buffer_bytes = cursor_u32(cursor);
	if (!cursor->failed && buffer_bytes > reader->inflate_limit)
		reader->inflate_limit = buffer_bytes < INFLATE_MAX_BYTES ? buffer_bytes
									 : INFLATE_MAX_BYTES;
}

static void take_memory(struct perfdata_features *features, struct cursor *cursor)
{
	features->total_memory_kb = cursor_u64(cursor);
}

static void take_clock(struct perfdata_features *features, struct cursor *cursor)
{
	uint32_t version = cursor_u32(cursor);

	features->clock = cursor_u32(cursor);
	features->clock_day_ns = cursor_u64(cursor);
	features->clock_ns = cursor_u64(cursor);
	features->has_clock = !cursor->failed && version == FORMAT_CLOCK_DATA_VERSION;
}

void perfdata_feature_take(struct perfdata_reader *reader, unsigned feature, const void *data,
			   size_t size)
{
	struct perfdata_features *features = &reader->features;
	struct cursor cursor = cursor_make(data, size, reader->swap);

	if (feature < PERFDATA_RAW_FEATURES)
		features->raw[feature] = (struct perfdata_raw){ data, size };
	switch (feature) {
	case FEATURE_TRACING_DATA:
		features->tracing_data = data;
		features->tracing_data_bytes = size;
		return;
	case FEATURE_BUILD_ID:
		return take_build_ids(reader, &cursor);
	case FEATURE_CLOCK_DATA:
		return take_clock(features, &cursor);
	case FEATURE_HOSTNAME:
		return take_string(reader, &cursor, &features->hostname);
	case FEATURE_OSRELEASE:
		return take_string(reader, &cursor, &features->osrelease);
	case FEATURE_VERSION:
		return take_string(reader, &cursor, &features->version);
	case FEATURE_ARCH:
		return take_string(reader, &cursor, &features->arch);
	case FEATURE_NRCPUS:
		return take_cpu_counts(features, &cursor);
	case FEATURE_CPUDESC:
		return take_string(reader, &cursor, &features->cpudesc);
	case FEATURE_CPUID:
		return take_string(reader, &cursor, &features->cpuid);
	case FEATURE_TOTAL_MEM:
		return take_memory(features, &cursor);
	case FEATURE_CMDLINE:
		return take_command_line(reader, &cursor);
	case FEATURE_EVENT_DESC:
		return take_event_names(reader, &cursor);
	case FEATURE_GROUP_DESC:
		return take_groups(reader, &cursor);
	case FEATURE_SAMPLE_TIME:
		return take_sample_time(features, &cursor);
	case FEATURE_COMPRESSED:
		return take_compression(reader, &cursor);
	case FEATURE_INVENTORY:
		return take_inventory(reader, data, size);
	case FEATURE_SYMBOLS:
		return perfdata_tables_take_section(reader, &cursor);
	}
}

const struct perfdata_features *perfdata_reader_features(const struct perfdata_reader *reader)
{
	return &reader->features;
}

const struct perfdata_inventory *perfdata_reader_inventory(const struct perfdata_reader *reader)
{
	return reader->inventory;
}
