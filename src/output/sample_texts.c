/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What perf's sort__trace_cmp() and add_dynamic_entry() do (tools/perf/util/sort.c), but that
 * values are compared as they are shown, and that an event without a field has "-" for it where
 * perf has no column. Left out: /raw, %N for an event, and trace_fields.
 */
#include "output/sample_texts.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/map.h"
#include "base/memory.h"
#include "output/tracepoint.h"
#include "output/view.h"

#define CGROUP "cgroup"
#define NO_TEXT SIZE_MAX

struct sample_texts {
	struct session *session;
	struct map cgroups; /* number -> path, in the session's strings */
	size_t cgroup;      /* which text is the control group; NO_TEXT: none */
	struct tracepoints *tracepoints; /* NULL: not opened yet */
	struct profile_texts found;
	char *words[PROFILE_TEXTS]; /* owned */
	/* Of each text: its field in each event, NULL where there is none. NULL: the whole text. */
	const struct trace_field **fields[PROFILE_TEXTS];
};

/* hist_entry__cgroup_snprintf() of tools/perf/util/sort.c */
static void append_cgroup(const struct sample_texts *texts, const struct session_sample *sample,
			  struct buffer *out)
{
	const struct perf_event_attr *attr = texts->session->attrs[sample->decoded.event_index];
	uint64_t number = attr->sample_type & PERF_SAMPLE_CGROUP ? sample->decoded.sample.cgroup
								 : 0;
	const uint64_t *path = map_find(&texts->cgroups, number);

	if (!number)
		buffer_append_string(out, "N/A");
	else if (!path)
		buffer_append_string(out, "unknown");
	else
		buffer_append_string(out, intern_string(texts->session->strings, *path));
}

/* PERF_RECORD_CGROUP: u64 number, path. The session begins anew. */
static void read_cgroups(struct sample_texts *texts)
{
	struct session *session = texts->session;
	struct perfdata_record record;

	session_rewind(session);
	while (session_next_record(session, &record) == PERFDATA_RECORD) {
		struct cursor cursor;
		uint64_t number;
		const char *path;

		if (record.type != PERF_RECORD_CGROUP)
			continue;
		cursor = cursor_make(record.body, record.body_bytes,
				     perfdata_reader_swap(session->reader));
		number = cursor_u64(&cursor);
		path = cursor_string_field(&cursor, cursor_left(&cursor));
		if (path)
			*map_insert(&texts->cgroups, number, NULL) =
				intern_text(session->strings, path);
	}
	session_rewind(session);
}

static void append_text(void *data, size_t index, const struct session_sample *sample,
			struct buffer *out)
{
	struct sample_texts *texts = data;
	size_t event = sample->decoded.event_index;

	if (index == texts->cgroup)
		append_cgroup(texts, sample, out);
	else if (!texts->fields[index])
		tracepoints_append_plain(texts->tracepoints, sample, out);
	else if (texts->fields[index][event])
		tracepoints_append_field(texts->tracepoints, sample, texts->fields[index][event],
					 out);
}

struct sample_texts *sample_texts_create(struct session *session)
{
	struct sample_texts *texts = memory_calloc(1, sizeof(*texts));

	texts->session = session;
	texts->cgroup = NO_TEXT;
	map_init(&texts->cgroups);
	texts->found.append = append_text;
	texts->found.data = texts;
	return texts;
}

void sample_texts_destroy(struct sample_texts *texts)
{
	if (!texts)
		return;
	for (size_t i = 0; i < PROFILE_TEXTS; i++) {
		free(texts->words[i]);
		free(texts->fields[i]);
	}
	tracepoints_destroy(texts->tracepoints);
	map_deinit(&texts->cgroups);
	free(texts);
}

const struct profile_texts *sample_texts_found(const struct sample_texts *texts)
{
	return texts->found.count ? &texts->found : NULL;
}

static bool has_tracepoints(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (session->attrs[i]->type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

/* Whether the event NAME, "sched:sched_switch:G", is called WORD of LENGTH, with system or not. */
static bool is_event(const char *name, const char *word, size_t length)
{
	const char *colon = strchr(name, ':');

	if (colon && !memchr(word, ':', length))
		name = colon + 1;
	return !strncmp(name, word, length) && (!name[length] || name[length] == ':');
}

/* The fields that WORD means, for each event; NULL: no event has one. The caller frees them. */
static const struct trace_field **find_fields(const struct sample_texts *texts, const char *word)
{
	size_t count = perfdata_reader_event_count(texts->session->reader);
	const struct trace_field **fields = memory_calloc(count, sizeof(*fields));
	const char *point = strchr(word, '.'), *name = point ? point + 1 : word;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const struct trace_format *format = tracepoints_format(texts->tracepoints, i);

		if (format && (!point || is_event(perfdata_reader_event(texts->session->reader,
									i)->name,
						  word, point - word)))
			fields[i] = trace_format_find(format, name, strlen(name));
		any |= fields[i] != NULL;
	}
	if (any)
		return fields;
	free(fields);
	return NULL;
}

static struct error *unknown_key(const char *option, const char *others, const char *word)
{
	static const char *const columns[] = { "overhead", "overhead_children", "sample", "period",
					       "ipc" };
	struct error *error = error_create(ERROR_USAGE, "%s: unknown key '%s'", option, word);

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (!*others && !strcmp(columns[i], word))
			return error_hint(error, "it is a column: -F %s,… chooses columns and keys",
					  word);
	return error_hint(error,
			  "the keys are %svm, vcpu, comm, pid, tid, gcomm, gpid, dso, mode, sym, "
			  "srcline, cpu, time, cgroup, and of tracepoints trace and their fields",
			  others);
}

/* The text that WORD means becomes the next one. */
static struct error *add(struct sample_texts *texts, const char *option, const char *others,
			 const char *word)
{
	size_t index = texts->found.count;
	const struct trace_field **fields = NULL;
	bool whole = !strcmp(word, "trace"), cgroup = !strcmp(word, CGROUP);
	const char *point;

	if (!whole && !cgroup)
		fields = find_fields(texts, word);
	if (!whole && !cgroup && !fields)
		return unknown_key(option, others, word);
	if (index == PROFILE_TEXTS) {
		free(fields);
		return error_create(ERROR_USAGE,
				    "%s: there may be at most %d fields of tracepoints and "
				    "cgroups", option, PROFILE_TEXTS);
	}
	texts->words[index] = memory_strdup(word);
	texts->fields[index] = fields;
	point = strchr(texts->words[index], '.');
	texts->found.words[index] = texts->words[index];
	texts->found.titles[index] = whole    ? "Trace output"
				     : cgroup ? "Cgroup"
				     : point  ? point + 1
					      : texts->words[index];
	texts->found.count++;
	if (!cgroup)
		return NULL;
	texts->cgroup = index;
	if (!texts->session->live) /* else names are not known yet */
		read_cgroups(texts);
	return NULL;
}

struct error *sample_texts_find_key(struct sample_texts *texts, const char *option,
				    const char *others, const char *word, enum profile_key *ret)
{
	bool cgroup = !strcmp(word, CGROUP);
	struct error *error = NULL;

	if (view_parse_key(word, ret))
		return NULL;
	if (!cgroup && !has_tracepoints(texts->session))
		return unknown_key(option, others, word);
	if (!cgroup && !texts->tracepoints)
		error = tracepoints_create(texts->session, "other keys need no formats",
					   &texts->tracepoints);
	for (size_t i = 0; i < texts->found.count; i++) {
		if (!strcmp(texts->words[i], word)) {
			*ret = PROFILE_TEXT + i;
			return NULL;
		}
	}
	if (!error)
		error = add(texts, option, others, word);
	if (!error)
		*ret = PROFILE_TEXT + texts->found.count - 1;
	return error;
}
