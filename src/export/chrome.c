/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace events in the JSON Object Format (the Chromium project's "Trace Event Format", 2016), in
 * which an event "Profile" and events "ProfileChunk" make a profile of each thread. V8's profiler
 * writes them (CpuProfile::StreamPendingTraceEvents(), src/profiler/profile-generator.cc), and the
 * developer tools read them (chrome-devtools-frontend, trace/handlers/SamplesHandler.ts). A chunk
 * adds nodes to the thread's call tree and has the nodes of samples, with the times between them,
 * in microseconds. Times are those of the recording's clock, which is what perf prints.
 */
#include "config.h"

#include "export/formats.h"
#include "export/tracks.h"
#include "output/json.h"

#define CHUNK_SAMPLES 10000 /* readers pass them as arguments of one call */
#define ROOT_ID 1           /* of the node above all others; that of stack N is N + 2 */
#define NS_PER_US 1000

struct writer {
	struct json json;
	const struct export_input *input;
	struct tracks tracks;
	struct buffer text;
};

static void write_string(struct writer *writer, const char *key)
{
	buffer_append_u8(&writer->text, 0);
	json_string(&writer->json, key, (const char *)writer->text.data);
	buffer_clear(&writer->text);
}

/* Begins an event, up to its arguments. */
static void open_event(struct json *json, const char *name, const char *phase,
		       const struct track *track, uint64_t time_us)
{
	json_open_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "ph", phase);
	json_string(json, "cat",
		    *phase == 'M' ? "__metadata" : "disabled-by-default-v8.cpu_profiler");
	json_unsigned(json, "pid", track->pid);
	json_unsigned(json, "tid", track->tid);
	json_unsigned(json, "ts", time_us);
}

/* Ends it, and its arguments. */
static void close_event(struct json *json)
{
	json_close(json);
	json_close(json);
}

static void write_names(struct writer *writer, const struct track *track)
{
	struct json *json = &writer->json;

	open_event(json, "process_name", "M", track, 0);
	json_open_object(json, "args");
	track_append_process(&writer->text, writer->input, track);
	write_string(writer, "name");
	close_event(json);
	open_event(json, "thread_name", "M", track, 0);
	json_open_object(json, "args");
	track_append_thread(&writer->text, writer->input, track);
	write_string(writer, "name");
	close_event(json);
}

/* Begins an event of the profile of TRACK, NUMBER in the file, up to its data. */
static void open_profile_event(struct writer *writer, const char *name, const struct track *track,
			       size_t number, uint64_t time_us)
{
	char id[32];

	snprintf(id, sizeof(id), "0x%zx", number + 1);
	open_event(&writer->json, name, "P", track, time_us);
	json_string(&writer->json, "id", id);
	json_open_object(&writer->json, "args");
	json_open_object(&writer->json, "data");
}

static void write_node(struct writer *writer, uint64_t id, const struct track_stack *stack)
{
	struct json *json = &writer->json;

	json_open_object(json, NULL);
	json_unsigned(json, "id", id);
	if (stack)
		json_unsigned(json, "parent",
			      stack->above == TRACKS_NONE ? ROOT_ID : stack->above + 2ULL);
	json_open_object(json, "callFrame");
	json_string(json, "codeType", "other");
	if (stack)
		track_append_stack(&writer->text, writer->input, stack);
	else
		buffer_append_string(&writer->text, "(root)");
	write_string(writer, "functionName");
	json_unsigned(json, "scriptId", 0);
	if (stack && stack->frame != TRACKS_NONE)
		json_string(json, "url", stack_module(writer->input, stack->frame));
	json_close(json);
	json_close(json);
}

/* The tree, which is in the first chunk. */
static void write_nodes(struct writer *writer)
{
	json_open_line(&writer->json, "nodes");
	write_node(writer, ROOT_ID, NULL);
	for (size_t i = 0; i < writer->tracks.stacks.count; i++)
		write_node(writer, i + 2, &writer->tracks.stacks.items[i]);
	json_close(&writer->json);
}

/* COUNT samples from FIRST on, the first of which is after BEFORE_US. */
static void write_chunk(struct writer *writer, const struct profile_sample *first, size_t count,
			uint64_t before_us, bool nodes)
{
	struct json *json = &writer->json;

	json_open_object(json, "cpuProfile");
	if (nodes)
		write_nodes(writer);
	json_open_line(json, "samples");
	for (size_t i = 0; i < count; i++) {
		uint32_t stack = tracks_stack_of(&writer->tracks, &first[i]);

		json_unsigned(json, NULL, stack == TRACKS_NONE ? ROOT_ID : stack + 2ULL);
	}
	json_close(json);
	json_close(json);
	json_open_line(json, "timeDeltas");
	for (size_t i = 0; i < count; i++) {
		json_unsigned(json, NULL, first[i].time_ns / NS_PER_US - before_us);
		before_us = first[i].time_ns / NS_PER_US;
	}
	json_close(json);
}

static void write_track(struct writer *writer, const struct track *track, size_t number)
{
	const struct profile_sample *samples = &writer->tracks.samples[track->first];
	uint64_t before_us = samples->time_ns / NS_PER_US;
	struct json *json = &writer->json;

	tracks_take(&writer->tracks, track);
	write_names(writer, track);
	open_profile_event(writer, "Profile", track, number, before_us);
	json_unsigned(json, "startTime", before_us);
	json_close(json);
	close_event(json);
	for (size_t i = 0; i < track->count && !ferror(json->out); i += CHUNK_SAMPLES) {
		size_t count = track->count - i < CHUNK_SAMPLES ? track->count - i : CHUNK_SAMPLES;

		open_profile_event(writer, "ProfileChunk", track, number,
				   samples[i].time_ns / NS_PER_US);
		write_chunk(writer, &samples[i], count, before_us, !i);
		json_close(json);
		close_event(json);
		before_us = samples[i + count - 1].time_ns / NS_PER_US;
	}
}

struct error *export_chrome(FILE *out, const struct export_input *input)
{
	struct writer writer = { .input = input };
	struct json *json = &writer.json;

	tracks_init(&writer.tracks, input);
	buffer_init(&writer.text, (size_t)1 << 20);
	json_init(json, out);
	json_open_object(json, NULL);
	json_open_object(json, "metadata");
	json_string(json, "source", "perfvisor " PERFVISOR_VERSION);
	json_string(json, "recording", input->path);
	json_string(json, "event", input->profile->events[input->event].name);
	json_close(json);
	json_open_array(json, "traceEvents");
	for (size_t i = 0; i < writer.tracks.list.count && !ferror(out); i++)
		write_track(&writer, &writer.tracks.list.items[i], i);
	json_close(json);
	json_close(json);
	buffer_deinit(&writer.text);
	tracks_deinit(&writer.tracks);
	return NULL;
}
