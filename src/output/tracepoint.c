/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of tracepoints, by the formats in the recording: in the words of the format's "print
 * fmt", or if that is not supported (tracepoint/print.h), as perf prints formats that it cannot
 * parse. Functions in fields get their names from the session's symbols.
 */
#include "output/tracepoint.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "tracepoint/formats.h"
#include "tracepoint/print.h"

/* Four bytes of text for each of a sample, as in "ARRAY[00, 01]", and a margin. */
#define TEXT_BYTES_MAX (8 * TRACE_RAW_MAX)

/* A tracepoint of the recording. */
struct tracepoint {
	const struct trace_format *format; /* NULL: unknown */
	struct trace_print *print;	   /* NULL: not supported */
};

struct tracepoints {
	const struct session *session;
	struct trace_formats *formats;
	struct tracepoint *items; /* by index of the event */
	size_t count;
	struct buffer text;
};

/* A trace_functions.find of the host's kernel, like perf's machine__resolve_kernel_addr(). */
static const char *find_function(void *data, uint64_t address, uint64_t *ret_start)
{
	struct session *session = data;
	struct machine *host = session->machines.items[0];
	const struct symbol_table *table = session_kernel_table(session, host, MACHINE_NO_KERNEL);
	const struct symbol *symbol = table ? symbol_table_find(table, address) : NULL;

	if (!symbol)
		return NULL;
	*ret_start = symbol->start;
	return symbol_name(table, symbol);
}

static void find_formats(struct tracepoints *tracepoints)
{
	const struct session *session = tracepoints->session;
	uint8_t long_bytes = trace_formats_payload(tracepoints->formats, NULL, 0).long_bytes;

	tracepoints->count = perfdata_reader_event_count(session->reader);
	tracepoints->items = memory_calloc(tracepoints->count, sizeof(*tracepoints->items));
	for (size_t i = 0; i < tracepoints->count; i++) {
		struct tracepoint *item = &tracepoints->items[i];

		if (session->attrs[i]->type != PERF_TYPE_TRACEPOINT)
			continue;
		item->format = trace_formats_find(tracepoints->formats, session->attrs[i]->config);
		if (item->format)
			item->print = trace_print_create(item->format, long_bytes);
	}
}

struct error *tracepoints_create(const struct session *session, const char *hint,
				 struct tracepoints **ret)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);
	struct trace_formats *formats;

	if (!features->tracing_data_bytes)
		return error_hint(error_create(ERROR_BAD_DATA, "the recording has tracepoints but "
							       "not their formats"),
				  "%s", hint);
	formats = trace_formats_create(features->tracing_data, features->tracing_data_bytes);
	if (!formats)
		return error_create(ERROR_BAD_DATA,
				    "the recording's tracepoint formats are malformed");
	*ret = memory_calloc(1, sizeof(**ret));
	(*ret)->session = session;
	(*ret)->formats = formats;
	buffer_init(&(*ret)->text, TEXT_BYTES_MAX);
	find_formats(*ret);
	return NULL;
}

void tracepoints_destroy(struct tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	for (size_t i = 0; i < tracepoints->count; i++)
		trace_print_destroy(tracepoints->items[i].print);
	free(tracepoints->items);
	trace_formats_destroy(tracepoints->formats);
	buffer_deinit(&tracepoints->text);
	free(tracepoints);
}

/* TEXT, whose end is missing if it was longer than its maximum. */
static void append_escaped(struct buffer *text, struct buffer *out)
{
	text->overflow = false;
	if (text->size == text->max_bytes)
		text->size--;
	buffer_append_u8(text, 0);
	utf8_append_escaped(out, (const char *)text->data);
}

void tracepoints_append_plain(struct tracepoints *tracepoints, const struct session_sample *sample,
			      struct buffer *out)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	const struct tracepoint *item = &tracepoints->items[sample->decoded.event_index];
	struct trace_functions functions = { find_function, (void *)tracepoints->session };
	struct trace_payload payload =
		trace_formats_payload(tracepoints->formats, fields->raw, fields->raw_bytes);

	if (!item->format || !fields->raw)
		return;
	if (item->print) {
		trace_print_append(item->print, &payload, &functions, out);
	} else {
		buffer_append_string(out, "[FAILED TO PARSE]");
		trace_fields_append(item->format, &payload, out);
	}
}

void tracepoints_append(struct tracepoints *tracepoints, const struct session_sample *sample,
			struct buffer *out)
{
	struct buffer *text = &tracepoints->text;

	buffer_clear(text);
	tracepoints_append_plain(tracepoints, sample, text);
	if (text->size)
		append_escaped(text, out);
}

const struct trace_format *tracepoints_format(const struct tracepoints *tracepoints, size_t index)
{
	return tracepoints->items[index].format;
}

/* The word after "NAME=" in TEXT, whose words are separated by blanks; NULL: it has none. */
static const char *find_word(const struct buffer *text, const char *name, size_t *ret_bytes)
{
	const char *at = (const char *)text->data, *end = at + text->size;
	size_t length = strlen(name);

	while (at < end) {
		const char *blank = memchr(at, ' ', end - at);
		const char *word_end = blank ? blank : end;

		if ((size_t)(word_end - at) > length && at[length] == '=' &&
		    !memcmp(at, name, length)) {
			*ret_bytes = word_end - at - length - 1;
			return at + length + 1;
		}
		at = word_end + 1;
	}
	return NULL;
}

/* Names may have blanks: whether the WORD with which FIELD begins is all of it. */
static bool is_whole(const struct trace_field *field, const struct trace_payload *payload,
		     const char *word, size_t bytes, struct buffer *scratch)
{
	size_t begin = scratch->size;
	bool longer;

	if (!(field->flags & TRACE_FIELD_STRING))
		return true;
	trace_field_append(field, payload, scratch);
	longer = scratch->size - begin > bytes && !memcmp(scratch->data + begin, word, bytes) &&
		 scratch->data[begin + bytes] == ' ';
	scratch->size = begin;
	return !longer;
}

void tracepoints_append_field(struct tracepoints *tracepoints, const struct session_sample *sample,
			      const struct trace_field *field, struct buffer *out)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct trace_payload payload =
		trace_formats_payload(tracepoints->formats, fields->raw, fields->raw_bytes);
	struct buffer *text = &tracepoints->text;
	const char *word;
	size_t bytes;

	if (!fields->raw)
		return;
	buffer_clear(text);
	tracepoints_append_plain(tracepoints, sample, text);
	word = text->size ? find_word(text, field->name, &bytes) : NULL;
	text->overflow = false;
	if (word && is_whole(field, &payload, word, bytes, out))
		buffer_append(out, word, bytes);
	else
		trace_field_append(field, &payload, out);
}
