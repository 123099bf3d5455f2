/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints in tracefs (Documentation/trace/events.rst): events/SYSTEM/NAME/{id,format}.
 *
 * HEADER_TRACING_DATA (tools/perf/util/trace-event-info.c and trace-event-read.c; the format of
 * trace-cmd's trace.dat version 0.6), in the byte order of the machine:
 *
 *	17 08 44 "tracing" "0.6\0"  u8 big_endian  u8 sizeof(long)  u32 page_size
 *	"header_page\0"  u64 size, text     "header_event\0"  u64 size, text
 *	u32 count, count x { u64 size, format }                 the ftrace system's events
 *	u32 systems, each: "NAME\0" u32 count, count x { u64 size, format }
 *	u32 kallsyms_size = 0       u32 printk_size, text       u64 cmdlines_size = 0
 */
#include "host/event/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"

#define FORMAT_MAX_BYTES (256u << 10)

const char *tracefs_find(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		_cleanup_free_ char *path = memory_printf("%s/events", places[i]);

		if (!access(path, R_OK | X_OK))
			return places[i];
	}
	return NULL;
}

static bool read_id(const char *root, const char *system, const char *name, uint64_t *ret)
{
	_cleanup_free_ char *path = memory_printf("%s/events/%s/%s/id", root, system, name);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	unsigned long long id;

	if (!file || fscanf(file, "%llu", &id) != 1)
		return false;
	*ret = id;
	return true;
}

static int compare_events(const void *a, const void *b)
{
	const struct tracefs_event *left = a, *right = b;
	int order = strcmp(left->system, right->system);

	return order ? order : strcmp(left->name, right->name);
}

typedef void visit_event(const char *system, const char *name, void *data);

static void visit_system(const char *root, const char *system, const char *name_pattern,
			 visit_event *visit, void *data)
{
	_cleanup_free_ char *path = memory_printf("%s/events/%s", root, system);
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    !fnmatch(name_pattern, entry->d_name, 0))
			visit(system, entry->d_name, data);
	if (folder)
		closedir(folder);
}

static void visit_events(const char *root, const char *system_pattern, const char *name_pattern,
			 visit_event *visit, void *data)
{
	_cleanup_free_ char *path = memory_printf("%s/events", root);
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    !fnmatch(system_pattern, entry->d_name, 0))
			visit_system(root, entry->d_name, name_pattern, visit, data);
	if (folder)
		closedir(folder);
}

struct collection {
	const char *root;
	struct tracefs_events *events;
};

static void collect_event(const char *system, const char *name, void *data)
{
	struct collection *collection = data;
	struct tracefs_event event = { 0 };

	if (!read_id(collection->root, system, name, &event.id))
		return;
	event.system = memory_strdup(system);
	event.name = memory_strdup(name);
	vector_append(&collection->events->items, event);
}

struct error *tracefs_find_events(const char *root, const char *system, const char *name,
				  struct tracefs_events *events)
{
	struct collection collection = { .root = root, .events = events };
	size_t before = events->items.count;

	visit_events(root, system, name, collect_event, &collection);
	if (events->items.count == before)
		return error_create(ERROR_NOT_FOUND, "unknown tracepoint '%s:%s'", system,
				    name);
	qsort(events->items.items + before, events->items.count - before,
	      sizeof(*events->items.items), compare_events);
	return NULL;
}

void tracefs_events_deinit(struct tracefs_events *events)
{
	for (size_t i = 0; i < events->items.count; i++) {
		free(events->items.items[i].system);
		free(events->items.items[i].name);
	}
	vector_deinit(&events->items);
}

static void list_event(const char *system, const char *name, void *data)
{
	struct event_candidates *candidates = data;

	vector_append(&candidates->names, memory_printf("%s:%s", system, name));
}

void tracefs_list_events(const char *root, const char *system, struct event_candidates *candidates)
{
	visit_events(root, system, "*", list_event, candidates);
}

/* Appends a file's size (u64, or u32 if SMALL) and its text. */
static struct error *append_file(const char *root, const char *name, bool small, struct buffer *out)
{
	_cleanup_free_ char *path = memory_printf("%s/%s", root, name);
	_cleanup_buffer_ struct buffer text;
	struct error *error;

	buffer_init(&text, FORMAT_MAX_BYTES);
	error = file_read(path, &text);
	if (error)
		return error;
	if (small)
		buffer_append_u32(out, text.size);
	else
		buffer_append_u64(out, text.size);
	buffer_append(out, text.data, text.size);
	return NULL;
}

static struct error *append_formats(const char *root, const struct tracefs_event *events,
				    size_t count, struct buffer *out)
{
	struct error *error = NULL;

	buffer_append_u32(out, count);
	for (size_t i = 0; i < count && !error; i++) {
		_cleanup_free_ char *name =
			memory_printf("events/%s/%s/format", events[i].system, events[i].name);

		error = append_file(root, name, false, out);
	}
	return error;
}

static struct error *append_headers(const char *root, struct buffer *out)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	struct error *error;

	buffer_append(out, magic, sizeof(magic));
	buffer_append(out, "0.6", 4);
	buffer_append_u8(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	buffer_append_u8(out, sizeof(long));
	buffer_append_u32(out, sysconf(_SC_PAGESIZE));
	buffer_append(out, "header_page", 12);
	error = append_file(root, "events/header_page", false, out);
	if (error)
		return error;
	buffer_append(out, "header_event", 13);
	return append_file(root, "events/header_event", false, out);
}

static bool is_wanted(uint64_t id, const uint64_t *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Removes the events from ALL whose id is not in IDS. ALL stays sorted by system. */
static void keep_wanted(struct tracefs_events *all, const uint64_t *ids, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->items.count; i++) {
		struct tracefs_event *event = &all->items.items[i];

		if (is_wanted(event->id, ids, count)) {
			all->items.items[kept++] = *event;
			continue;
		}
		free(event->system);
		free(event->name);
	}
	all->items.count = kept;
}

/* How many of the COUNT events from EVENTS on belong to the same system as the first. */
static size_t same_system(const struct tracefs_event *events, size_t count)
{
	size_t same = 1;

	while (same < count && !strcmp(events[same].system, events[0].system))
		same++;
	return same;
}

static struct error *append_systems(const char *root, const struct tracefs_events *events,
				    struct buffer *out)
{
	const struct tracefs_event *items = events->items.items;
	size_t count = events->items.count, step;
	uint32_t systems = 0;
	struct error *error = NULL;

	for (size_t i = 0; i < count; i += same_system(items + i, count - i))
		systems++;
	buffer_append_u32(out, systems);
	for (size_t i = 0; i < count && !error; i += step) {
		step = same_system(items + i, count - i);
		buffer_append(out, items[i].system, strlen(items[i].system) + 1);
		error = append_formats(root, items + i, step, out);
	}
	return error;
}

struct error *tracefs_build_tracing_data(const char *root, const uint64_t *ids, size_t count,
					 struct buffer *out)
{
	struct tracefs_events events = { 0 };
	struct collection collection = { .root = root, .events = &events };
	struct error *error;

	visit_events(root, "*", "*", collect_event, &collection);
	keep_wanted(&events, ids, count);
	if (events.items.count)
		qsort(events.items.items, events.items.count, sizeof(*events.items.items),
		      compare_events);
	error = append_headers(root, out);
	if (!error)
		error = append_formats(root, NULL, 0, out); /* none of the ftrace system */
	if (!error)
		error = append_systems(root, &events, out);
	tracefs_events_deinit(&events);
	if (error)
		return error;
	buffer_append_u32(out, 0); /* kallsyms: stored elsewhere */
	error = append_file(root, "printk_formats", true, out);
	buffer_append_u64(out, 0); /* saved command lines: COMM records name the threads */
	if (!error && out->overflow)
		error = error_create(ERROR_SYSTEM,
				     "the formats of the tracepoints exceed %zu bytes",
				     out->max_bytes);
	return error;
}
