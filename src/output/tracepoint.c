/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields of tracepoints, by the formats in the recording. Functions in fields get their names from
 * the session's symbols.
 *
 * libtraceevent trusts formats and samples. Therefore a format is used only if all its fields are
 * within the largest sample, and a sample is copied to a buffer that is large enough for any 16-bit
 * offset and length in it.
 */
#include "output/tracepoint.h"

#if HAVE_TRACEEVENT

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "perfdata/tracing_data.h"

#define SAMPLE_MAX 65536	/* a record's size is 16 bits */
#define ROOM (4 * SAMPLE_MAX)	/* a 16-bit offset plus a 16-bit length, and a margin */

enum soundness { UNCHECKED, SOUND, UNSOUND };

struct tracepoints {
	struct session *session;
	struct tep_handle *tep;
	struct tep_plugin_list *plugins;
	struct trace_seq text;
	uint8_t *room; /* the sample, followed by zeroes */
	size_t filled;
	size_t event_count;
	uint8_t *soundness; /* for each event, whether its format is sound */
};

/* Names of functions in fields, for perf's machine__resolve_kernel_addr(). */
static char *resolve_function(void *data, unsigned long long *address, char **module)
{
	struct tracepoints *tracepoints = data;
	struct machine *host = tracepoints->session->machines.items[0];
	const struct symbol_table *table =
		session_kernel_table(tracepoints->session, host, MACHINE_NO_KERNEL);
	const struct symbol *symbol = table ? symbol_table_find(table, *address) : NULL;

	if (!symbol)
		return NULL;
	*module = (char *)symbol_module(table, symbol);
	*address = symbol->start;
	return (char *)symbol_name(table, symbol);
}

static bool read_formats(struct tracepoints *tracepoints)
{
	const struct perfdata_features *features =
		perfdata_reader_features(tracepoints->session->reader);
	struct perfdata_tracing tracing;
	struct perfdata_tracing_format format;
	bool local_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	if (!perfdata_tracing_open(features->tracing_data, features->tracing_data_bytes, &tracing))
		return false;
	tep_set_flag(tracepoints->tep, TEP_NSEC_OUTPUT);
	tep_set_file_bigendian(tracepoints->tep,
			       tracing.big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(tracepoints->tep, local_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(tracepoints->tep, tracing.long_bytes);
	tep_set_page_size(tracepoints->tep, tracing.page_bytes);
	/* An event whose format cannot be parsed has no fields. */
	while (perfdata_tracing_next(&tracing, &format))
		tep_parse_event(tracepoints->tep, format.text, format.bytes, format.system);
	return !tracing.cursor.failed;
}

static bool are_sound(const struct tep_format_field *field)
{
	for (; field; field = field->next)
		if (field->offset < 0 || field->size < 0 || field->size > SAMPLE_MAX ||
		    field->offset > SAMPLE_MAX - field->size)
			return false;
	return true;
}

static bool wants_fields(const struct session *session, const struct script_event *events)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (events[i].fields & SCRIPT_TRACE)
			return true;
	return false;
}

struct error *tracepoints_create(const struct session *session, const struct script_event *events,
				 struct tracepoints **ret)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);
	struct tracepoints *tracepoints;

	*ret = NULL;
	if (!wants_fields(session, events))
		return NULL;
	if (!features->tracing_data_bytes)
		return error_hint(error_create(ERROR_BAD_DATA, "the recording has tracepoints but "
							       "not their formats"),
				  "-F without 'trace' shows the rest of its samples");
	tracepoints = memory_calloc(1, sizeof(*tracepoints));
	tracepoints->session = (struct session *)session;
	tracepoints->tep = tep_alloc();
	tracepoints->plugins = tep_load_plugins(tracepoints->tep);
	tracepoints->event_count = perfdata_reader_event_count(session->reader);
	tracepoints->soundness = memory_calloc(tracepoints->event_count, 1);
	tracepoints->room = memory_calloc(ROOM, 1);
	trace_seq_init(&tracepoints->text);
	tep_set_function_resolver(tracepoints->tep, resolve_function, tracepoints);
	if (read_formats(tracepoints)) {
		*ret = tracepoints;
		return NULL;
	}
	tracepoints_destroy(tracepoints);
	return error_create(ERROR_BAD_DATA, "the recording's tracepoint formats are malformed");
}

void tracepoints_destroy(struct tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	tep_unload_plugins(tracepoints->plugins, tracepoints->tep);
	tep_free(tracepoints->tep);
	trace_seq_destroy(&tracepoints->text);
	free(tracepoints->soundness);
	free(tracepoints->room);
	free(tracepoints);
}

static bool is_sound(struct tracepoints *tracepoints, size_t event_index, struct tep_event *event)
{
	uint8_t *soundness = &tracepoints->soundness[event_index];

	if (*soundness == UNCHECKED)
		*soundness = are_sound(event->format.common_fields) &&
					     are_sound(event->format.fields)
				     ? SOUND
				     : UNSOUND;
	return *soundness == SOUND;
}

void tracepoints_append(struct tracepoints *tracepoints, const struct session_sample *sample,
			struct buffer *out)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	const struct perf_event_attr *attr =
		tracepoints->session->attrs[sample->decoded.event_index];
	struct tep_record record = { .cpu = fields->cpu, .size = fields->raw_bytes };
	struct tep_event *event = tep_find_event(tracepoints->tep, attr->config);

	if (!event || !fields->raw || fields->raw_bytes > SAMPLE_MAX ||
	    !is_sound(tracepoints, sample->decoded.event_index, event))
		return;
	memcpy(tracepoints->room, fields->raw, fields->raw_bytes);
	if (tracepoints->filled > fields->raw_bytes)
		memset(tracepoints->room + fields->raw_bytes, 0,
		       tracepoints->filled - fields->raw_bytes);
	tracepoints->filled = fields->raw_bytes;
	record.data = tracepoints->room;
	/* The library finds the format from the data, not from the event. */
	if (tep_find_event_by_record(tracepoints->tep, &record) != event)
		return;
	trace_seq_reset(&tracepoints->text);
	tep_print_event(tracepoints->tep, &tracepoints->text, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&tracepoints->text);
	utf8_append_escaped(out, tracepoints->text.buffer);
}

#else

struct error *tracepoints_create(const struct session *session, const struct script_event *events,
				 struct tracepoints **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (events[i].fields & SCRIPT_TRACE)
			return error_hint(error_create(ERROR_UNSUPPORTED,
						       "this perfvisor cannot print the fields of "
						       "tracepoints"),
					  "build it with libtraceevent, or use -F without 'trace'");
	return NULL;
}

void tracepoints_destroy(struct tracepoints *tracepoints)
{
	(void)tracepoints;
}

void tracepoints_append(struct tracepoints *tracepoints, const struct session_sample *sample,
			struct buffer *out)
{
	(void)tracepoints, (void)sample, (void)out;
}

#endif
