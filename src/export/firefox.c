/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processed profile format of the Firefox Profiler, version 58, as documented in its repository
 * (github.com/firefox-devtools/profiler) in src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md. Tables are objects of columns. Strings, files and sources
 * are shared; every thread has its own stacks, frames, functions and resources. Times are
 * milliseconds of the recording's clock, which is what perf prints.
 */
#include "config.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/memory.h"
#include "export/formats.h"
#include "export/tracks.h"
#include "output/json.h"
#include "output/view.h"

#define FORMAT_VERSION 58
#define GECKO_VERSION 31 /* of the same changelog: the format of what Firefox itself writes */
#define RESOURCE_LIBRARY 1
#define NS_PER_MS 1e6

/* The first is the default, which must be grey. */
static const struct {
	const char *name, *colour;
	uint16_t cpumode;
} categories[] = {
	{ "Other", "grey", PERF_RECORD_MISC_CPUMODE_UNKNOWN },
	{ "Guest kernel", "orange", PERF_RECORD_MISC_GUEST_KERNEL },
	{ "Guest user", "yellow", PERF_RECORD_MISC_GUEST_USER },
	{ "Host kernel", "blue", PERF_RECORD_MISC_KERNEL },
	{ "Host user", "green", PERF_RECORD_MISC_USER },
};
#define CATEGORIES (sizeof(categories) / sizeof(*categories))

/* A frame, which is also a function. */
struct element {
	uint32_t name; /* string */
	uint32_t category;
	uint32_t resource; /* of the thread; TRACKS_NONE: none */
};

struct writer {
	struct json json;
	const struct export_input *input;
	struct tracks tracks;
	struct intern *strings;
	struct buffer text;
	struct intern *files;       /* names of them; number - 1 is the index in libs */
	VECTOR(uint32_t) locations; /* one in each file */
	/* Of the current thread: */
	VECTOR(struct element) elements;
	VECTOR(uint32_t) resources; /* the file of each */
	uint32_t *element_of;       /* for each of its stacks */
	uint32_t *known;            /* for each frame of the tree, its element + 1 */
	struct map resource_of;     /* file -> resource + 1 */
};

static uint32_t take_text(struct writer *writer)
{
	uint32_t number =
		intern_bytes(writer->strings, (const char *)writer->text.data, writer->text.size);

	buffer_clear(&writer->text);
	return number;
}

static uint32_t category_of(uint16_t cpumode)
{
	for (uint32_t i = 0; i < CATEGORIES; i++)
		if (categories[i].cpumode == (cpumode & ~CPUMODE_GUESSED))
			return i;
	return 0;
}

/* The thread's resource for the file that FRAME is in. */
static uint32_t resource_of(struct writer *writer, uint32_t frame)
{
	const struct profile *profile = writer->input->profile;
	uint32_t file = intern_text(writer->files, stack_module(writer->input, frame));
	uint64_t *resource;

	if (!file)
		return TRACKS_NONE;
	if (file > writer->locations.count)
		vector_append(&writer->locations, profile->tree->frames.items[frame].location);
	resource = map_insert(&writer->resource_of, file, NULL);
	if (!*resource) {
		vector_append(&writer->resources, file);
		*resource = writer->resources.count;
	}
	return *resource - 1;
}

static uint32_t add_element(struct writer *writer, const struct track_stack *stack)
{
	const struct calltree *tree = writer->input->profile->tree;
	struct element element = { .resource = TRACKS_NONE };

	if (stack->frame != TRACKS_NONE) {
		element.category = category_of(tree->frames.items[stack->frame].cpumode);
		element.resource = resource_of(writer, stack->frame);
	}
	track_append_stack(&writer->text, writer->input, stack);
	element.name = take_text(writer);
	vector_append(&writer->elements, element);
	return writer->elements.count - 1;
}

/* Finds the elements of the current thread. */
static void find_elements(struct writer *writer)
{
	size_t frames = writer->input->profile->tree->frames.count;
	size_t count = writer->tracks.stacks.count;

	writer->elements.count = writer->resources.count = 0;
	writer->element_of = memory_calloc(count + 1, sizeof(*writer->element_of));
	writer->known = memory_calloc(frames + 1, sizeof(*writer->known));
	map_init(&writer->resource_of);
	for (size_t i = 0; i < count; i++) {
		const struct track_stack *stack = &writer->tracks.stacks.items[i];
		bool function = stack->frame != TRACKS_NONE;

		if (function && writer->known[stack->frame]) {
			writer->element_of[i] = writer->known[stack->frame] - 1;
			continue;
		}
		writer->element_of[i] = add_element(writer, stack);
		if (function)
			writer->known[stack->frame] = writer->element_of[i] + 1;
	}
	map_deinit(&writer->resource_of);
	free(take_pointer(writer->known));
}

/* A column in which all COUNT rows are equal: VALUE, or null. */
static void write_same(struct json *json, const char *name, size_t count, const int64_t *value)
{
	json_open_line(json, name);
	for (size_t i = 0; i < count; i++)
		if (value)
			json_signed(json, NULL, *value);
		else
			json_null(json, NULL);
	json_close(json);
}

static void write_false(struct json *json, const char *name, size_t count)
{
	json_open_line(json, name);
	for (size_t i = 0; i < count; i++)
		json_bool(json, NULL, false);
	json_close(json);
}

static void write_samples(struct writer *writer, const struct track *track)
{
	struct json *json = &writer->json;
	const struct profile_sample *samples = &writer->tracks.samples[track->first];

	json_open_object(json, "samples");
	json_open_line(json, "stack");
	for (size_t i = 0; i < track->count; i++) {
		uint32_t stack = tracks_stack_of(&writer->tracks, &samples[i]);

		if (stack == TRACKS_NONE)
			json_null(json, NULL);
		else
			json_unsigned(json, NULL, stack);
	}
	json_close(json);
	json_open_line(json, "time");
	for (size_t i = 0; i < track->count; i++)
		json_milliseconds(json, NULL, samples[i].time_ns);
	json_close(json);
	json_null(json, "weight");
	json_string(json, "weightType", "samples");
	json_unsigned(json, "length", track->count);
	json_close(json);
}

static void write_stacks(struct writer *writer)
{
	struct json *json = &writer->json;
	size_t count = writer->tracks.stacks.count;

	json_open_object(json, "stackTable");
	json_open_line(json, "frame");
	for (size_t i = 0; i < count; i++)
		json_unsigned(json, NULL, writer->element_of[i]);
	json_close(json);
	json_open_line(json, "prefix");
	for (size_t i = 0; i < count; i++)
		if (writer->tracks.stacks.items[i].above == TRACKS_NONE)
			json_null(json, NULL);
		else
			json_unsigned(json, NULL, writer->tracks.stacks.items[i].above);
	json_close(json);
	json_unsigned(json, "length", count);
	json_close(json);
}

static void write_frames(struct writer *writer)
{
	static const int64_t none = -1, zero = 0;
	struct json *json = &writer->json;
	size_t count = writer->elements.count;

	json_open_object(json, "frameTable");
	write_same(json, "address", count, &none);
	write_same(json, "inlineDepth", count, &zero);
	json_open_line(json, "category");
	for (size_t i = 0; i < count; i++)
		json_unsigned(json, NULL, writer->elements.items[i].category);
	json_close(json);
	write_same(json, "subcategory", count, &zero);
	json_open_line(json, "func");
	for (size_t i = 0; i < count; i++)
		json_unsigned(json, NULL, i);
	json_close(json);
	write_same(json, "nativeSymbol", count, NULL);
	write_same(json, "innerWindowID", count, &zero);
	write_same(json, "line", count, NULL);
	write_same(json, "column", count, NULL);
	json_unsigned(json, "length", count);
	json_close(json);
}

static void write_functions(struct writer *writer)
{
	struct json *json = &writer->json;
	size_t count = writer->elements.count;

	json_open_object(json, "funcTable");
	json_open_line(json, "name");
	for (size_t i = 0; i < count; i++)
		json_unsigned(json, NULL, writer->elements.items[i].name);
	json_close(json);
	write_false(json, "isJS", count);
	write_false(json, "relevantForJS", count);
	json_open_line(json, "resource");
	for (size_t i = 0; i < count; i++)
		if (writer->elements.items[i].resource == TRACKS_NONE)
			json_signed(json, NULL, -1);
		else
			json_unsigned(json, NULL, writer->elements.items[i].resource);
	json_close(json);
	write_same(json, "source", count, NULL);
	write_same(json, "lineNumber", count, NULL);
	write_same(json, "columnNumber", count, NULL);
	json_unsigned(json, "length", count);
	json_close(json);
}

static void write_resources(struct writer *writer)
{
	static const int64_t library = RESOURCE_LIBRARY;
	struct json *json = &writer->json;
	size_t count = writer->resources.count;

	json_open_object(json, "resourceTable");
	json_open_line(json, "lib");
	for (size_t i = 0; i < count; i++)
		json_unsigned(json, NULL, writer->resources.items[i] - 1);
	json_close(json);
	json_open_line(json, "name");
	for (size_t i = 0; i < count; i++)
		json_unsigned(
			json, NULL,
			intern_text(writer->strings,
				    intern_string(writer->files, writer->resources.items[i])));
	json_close(json);
	write_same(json, "host", count, NULL);
	write_same(json, "type", count, &library);
	json_unsigned(json, "length", count);
	json_close(json);
}

/* A table without rows, of the COLUMNS up to NULL. */
static void write_empty(struct json *json, const char *name, const char *const *columns)
{
	json_open_object(json, name);
	for (; *columns; columns++) {
		json_open_line(json, *columns);
		json_close(json);
	}
	json_unsigned(json, "length", 0);
	json_close(json);
}

static void write_who(struct writer *writer, const struct track *track, bool first)
{
	struct json *json = &writer->json;
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRIu32, track->pid);
	json_string(json, "processType", "default");
	track_append_process(&writer->text, writer->input, track);
	json_string(json, "processName", intern_string(writer->strings, take_text(writer)));
	track_append_thread(&writer->text, writer->input, track);
	json_string(json, "name", intern_string(writer->strings, take_text(writer)));
	json_bool(json, "isMainThread", first);
	json_string(json, "pid", pid);
	json_unsigned(json, "tid", track->tid);
}

/* FIRST: of its process. */
static void write_thread(struct writer *writer, const struct track *track, bool first)
{
	static const char *const markers[] = { "data",  "name",     "startTime", "endTime",
					       "phase", "category", NULL };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize",
					       NULL };
	uint64_t begin_ns = writer->tracks.samples[track->first].time_ns;
	struct json *json = &writer->json;

	tracks_take(&writer->tracks, track);
	find_elements(writer);
	json_open_object(json, NULL);
	write_who(writer, track, first);
	json_milliseconds(json, "processStartupTime", begin_ns);
	json_null(json, "processShutdownTime");
	json_milliseconds(json, "registerTime", begin_ns);
	json_null(json, "unregisterTime");
	json_open_line(json, "pausedRanges");
	json_close(json);
	write_samples(writer, track);
	write_empty(json, "markers", markers);
	write_stacks(writer);
	write_frames(writer);
	write_functions(writer);
	write_resources(writer);
	write_empty(json, "nativeSymbols", symbols);
	json_close(json);
	free(take_pointer(writer->element_of));
}

static void write_categories(struct json *json)
{
	json_open_array(json, "categories");
	for (size_t i = 0; i < CATEGORIES; i++) {
		json_open_object(json, NULL);
		json_string(json, "name", categories[i].name);
		json_string(json, "color", categories[i].colour);
		json_open_line(json, "subcategories");
		json_string(json, NULL, "Other");
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

/* What the event was to be sampled at, in milliseconds; 1 where that is no time. */
static double find_interval(const struct export_input *input)
{
	const struct perf_event_attr *attr = input->profile->session->attrs[input->event];

	if (attr->freq && attr->sample_freq)
		return 1000.0 / attr->sample_freq;
	return *stack_unit(input) == 'n' && attr->sample_period ? attr->sample_period / NS_PER_MS
								: 1;
}

static void write_meta(struct writer *writer)
{
	const struct perfdata_features *features =
		perfdata_reader_features(writer->input->profile->session->reader);
	struct json *json = &writer->json;

	json_open_object(json, "meta");
	json_double(json, "interval", find_interval(writer->input));
	json_unsigned(json, "startTime", 0);
	json_unsigned(json, "processType", 0);
	json_string(json, "product", writer->input->path);
	json_string(json, "importedFrom", "perfvisor " PERFVISOR_VERSION);
	if (features->osrelease)
		json_string(json, "oscpu", features->osrelease);
	if (features->cpudesc)
		json_string(json, "CPUName", features->cpudesc);
	json_unsigned(json, "stackwalk", 1);
	json_unsigned(json, "version", GECKO_VERSION);
	json_unsigned(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_bool(json, "symbolicated", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_bool(json, "keepProfileThreadOrder", true);
	write_categories(json);
	json_open_line(json, "markerSchema");
	json_close(json);
	json_close(json);
}

static void write_files(struct writer *writer)
{
	struct json *json = &writer->json;
	const struct perfdata_features *features =
		perfdata_reader_features(writer->input->profile->session->reader);

	json_open_array(json, "libs");
	for (size_t i = 0; i < writer->locations.count; i++) {
		uint32_t location = writer->locations.items[i];
		const char *name = intern_string(writer->files, i + 1);
		const char *path = resolver_dso_path(writer->input->profile->resolver, location);

		stack_append_build_id(&writer->text, writer->input, location);
		buffer_append_u8(&writer->text, 0);
		json_open_object(json, NULL);
		json_string(json, "arch", features->arch ? features->arch : "");
		json_string(json, "name", name);
		json_string(json, "path", path);
		json_string(json, "debugName", name);
		json_string(json, "debugPath", path);
		json_string(json, "breakpadId", "");
		json_string(json, "codeId",
			    *writer->text.data ? (const char *)writer->text.data : NULL);
		json_close(json);
		buffer_clear(&writer->text);
	}
	json_close(json);
}

/* After the threads, which use them. */
static void write_shared(struct writer *writer)
{
	static const char *const sources[] = { "uuid", "filename", NULL };
	struct json *json = &writer->json;

	json_open_object(json, "shared");
	json_open_array(json, "stringArray");
	for (uint32_t i = 0; i < intern_count(writer->strings); i++)
		json_string(json, NULL, intern_string(writer->strings, i));
	json_close(json);
	write_empty(json, "sources", sources);
	json_close(json);
}

static void write_profile(struct writer *writer)
{
	struct json *json = &writer->json;
	uint64_t before = UINT64_MAX;

	json_open_object(json, NULL);
	write_meta(writer);
	json_open_array(json, "threads");
	for (size_t i = 0; i < writer->tracks.list.count && !ferror(json->out); i++) {
		const struct track *track = &writer->tracks.list.items[i];

		write_thread(writer, track, track->pid != before);
		before = track->pid;
	}
	json_close(json);
	write_files(writer);
	write_shared(writer);
	json_close(json);
}

struct error *export_firefox(FILE *out, const struct export_input *input)
{
	struct writer writer = { .input = input };

	tracks_init(&writer.tracks, input);
	writer.strings = intern_create();
	writer.files = intern_create();
	buffer_init(&writer.text, (size_t)1 << 20);
	json_init(&writer.json, out);
	write_profile(&writer);
	buffer_deinit(&writer.text);
	intern_destroy(writer.files);
	intern_destroy(writer.strings);
	vector_deinit(&writer.elements);
	vector_deinit(&writer.resources);
	vector_deinit(&writer.locations);
	tracks_deinit(&writer.tracks);
	return NULL;
}
