/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMU/TERM[=VALUE],…/, see Documentation/ABI/testing/sysfs-bus-event_source-devices-*:
 *
 *	type          a number: attr.type
 *	format/TERM   "config:0-7,32-35": which bits of which config word the term fills
 *	events/NAME   "event=0x3c,umask=0x01": the terms that an event's name stands for
 *	cpus          the CPUs of a core PMU, if there are several kinds of cores
 *
 * perf's own terms: config, config1, config2 (whole words), period, freq, name.
 */
#include "host/event/event_pmu.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/files/file.h"

#define SYSFS_MAX_BYTES 4096
#define MAX_ALIAS_DEPTH 2 /* an event's terms use formats, never other events */

/* Reads ROOT/PMU/FILE without its newline; false: does not exist. */
static bool read_attribute(const char *root, const char *pmu, const char *file, const char *name,
			   char *ret, size_t size)
{
	_cleanup_free_ char *path = memory_printf("%s/%s/%s%s", root, pmu, file, name);
	_cleanup_fclose_ FILE *stream = strchr(name, '/') ? NULL : fopen(path, "re");

	if (!stream || !fgets(ret, (int)size, stream))
		return false;
	ret[strcspn(ret, "\n")] = 0;
	return true;
}

static uint64_t *config_word(struct perf_event_attr *attr, const char *name, size_t length)
{
	if (length == 6 && !memcmp(name, "config", 6))
		return (uint64_t *)&attr->config;
	if (length == 7 && !memcmp(name, "config1", 7))
		return (uint64_t *)&attr->config1;
	if (length == 7 && !memcmp(name, "config2", 7))
		return (uint64_t *)&attr->config2;
	return NULL;
}

/* Puts VALUE's bits, lowest first, into the ranges of FORMAT ("config:0-7,32-35"). */
static bool apply_format(struct perf_event_attr *attr, const char *format, uint64_t value,
			 bool *ret_too_big)
{
	size_t length = strcspn(format, ":");
	uint64_t *word = config_word(attr, format, length);
	const char *range = format + length;

	if (!word || *range != ':')
		return false;
	while (*range == ':' || *range == ',') {
		unsigned low, high;
		int used = 0;

		if (sscanf(range + 1, "%u%n-%u%n", &low, &used, &high, &used) < 2)
			high = low;
		if (!used || low > high || high > 63)
			return false;
		for (unsigned bit = low; bit <= high; bit++, value >>= 1)
			*word = (*word & ~(1ULL << bit)) | (value & 1) << bit;
		range += 1 + used;
	}
	*ret_too_big = value != 0;
	return !*range;
}

static struct error *parse_value(const char *term, const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end || errno)
		return error_create(ERROR_USAGE, "term '%s' takes a number, not '%s'", term, text);
	return NULL;
}

/* Terms that every PMU accepts. *RET_DONE: NAME was one of them. */
static struct error *apply_common_term(struct host_event *event, const char *name,
				       const char *value, bool *ret_done)
{
	uint64_t *word = config_word(&event->attr, name, strlen(name));
	uint64_t number;
	struct error *error;
	bool frequency = !strcmp(name, "freq");

	*ret_done = true;
	if (!strcmp(name, "name")) {
		free(event->name);
		event->name = memory_strdup(value);
		return NULL;
	}
	if (!word && !frequency && strcmp(name, "period")) {
		*ret_done = false;
		return NULL;
	}
	error = parse_value(name, value, &number);
	if (error)
		return error;
	if (word) {
		*word = number;
		return NULL;
	}
	if (!number)
		return error_create(ERROR_USAGE, "term '%s' must be greater than 0", name);
	event->attr.sample_period = number;
	event->attr.freq = frequency;
	event->rate_set = true;
	return NULL;
}

static struct error *apply_terms(const char *root, const char *pmu, const char *terms, int depth,
				 struct host_event *event);

static struct error *apply_term(const char *root, const char *pmu, char *term, int depth,
				struct host_event *event)
{
	char *value = strchr(term, '=');
	char text[SYSFS_MAX_BYTES];
	uint64_t number;
	bool done = false, too_big = false;
	struct error *error = NULL;

	if (value)
		*value++ = 0;
	if (value)
		error = apply_common_term(event, term, value, &done);
	if (error || done)
		return error;
	if (read_attribute(root, pmu, "format/", term, text, sizeof(text))) {
		error = parse_value(term, value ? value : "1", &number);
		if (error)
			return error;
		if (!apply_format(&event->attr, text, number, &too_big))
			return error_create(ERROR_UNSUPPORTED,
					    "term '%s' of %s has an unsupported "
					    "format: %s",
					    term, pmu, text);
		return too_big ? error_create(ERROR_USAGE,
					      "value '%s' is too large for term '%s' (%s)",
					      value ? value : "1", term, text)
			       : NULL;
	}
	if (!value && depth < MAX_ALIAS_DEPTH &&
	    read_attribute(root, pmu, "events/", term, text, sizeof(text)))
		return apply_terms(root, pmu, text, depth + 1, event);
	return error_hint(
		error_create(ERROR_NOT_FOUND, "%s has no term or event '%s'", pmu, term),
		"'ls %s/%s/format %s/%s/events' shows what it has", root, pmu, root, pmu);
}

static struct error *apply_terms(const char *root, const char *pmu, const char *terms, int depth,
				 struct host_event *event)
{
	_cleanup_free_ char *copy = memory_strdup(terms);
	char *rest = copy, *term;
	struct error *error = NULL;

	while (!error && (term = strsep(&rest, ",")))
		if (*term)
			error = apply_term(root, pmu, term, depth, event);
	return error;
}

struct error *event_pmu_parse(const char *root, const char *pmu, const char *terms,
			      struct host_event *event)
{
	char text[32];

	if (!*pmu || !strcmp(pmu, ".") || !strcmp(pmu, "..") ||
	    !read_attribute(root, pmu, "type", "", text, sizeof(text)))
		return error_hint(error_create(ERROR_NOT_FOUND, "this host has no PMU '%s'", pmu),
				  "'ls %s' shows them", root);
	event->attr.type = strtoul(text, NULL, 10);
	return apply_terms(root, pmu, terms, 0, event);
}

/* Calls VISIT for each PMU until it returns false. */
static void for_each_pmu(const char *root,
			 bool (*visit)(const char *root, const char *pmu, void *data), void *data)
{
	DIR *folder = opendir(root);
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.' && !visit(root, entry->d_name, data))
			break;
	closedir(folder);
}

struct event_search {
	const char *name;
	char *pmu;
};

static bool visit_has_event(const char *root, const char *pmu, void *data)
{
	struct event_search *search = data;
	char text[SYSFS_MAX_BYTES];

	if (!read_attribute(root, pmu, "events/", search->name, text, sizeof(text)))
		return true;
	search->pmu = memory_strdup(pmu);
	return false;
}

char *event_pmu_find_event(const char *root, const char *name)
{
	struct event_search search = { .name = name };

	for_each_pmu(root, visit_has_event, &search);
	return search.pmu;
}

static bool visit_list_events(const char *root, const char *pmu, void *data)
{
	struct event_candidates *candidates = data;
	_cleanup_free_ char *path = memory_printf("%s/%s/events", root, pmu);
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		/* NAME.scale and NAME.unit describe NAME */
		if (strchr(entry->d_name, '.'))
			continue;
		vector_append(&candidates->names, memory_printf("%s/%s/", pmu, entry->d_name));
	}
	if (folder)
		closedir(folder);
	return true;
}

void event_pmu_list_events(const char *root, struct event_candidates *candidates)
{
	for_each_pmu(root, visit_list_events, candidates);
}

static bool visit_core(const char *root, const char *pmu, void *data)
{
	struct event_core_pmus *pmus = data;
	char cpus[SYSFS_MAX_BYTES], type[32];

	/* Uncore PMUs have "cpumask" instead; a host's only core PMU on x86 has neither. */
	if (!read_attribute(root, pmu, "cpus", "", cpus, sizeof(cpus)) ||
	    !read_attribute(root, pmu, "type", "", type, sizeof(type)))
		return true;
	vector_append(&pmus->items, (struct event_core_pmu){ .name = memory_strdup(pmu),
							     .type = strtoul(type, NULL, 10) });
	return true;
}

void event_pmu_find_cores(const char *root, struct event_core_pmus *ret)
{
	struct event_core_pmus pmus = { 0 };

	for_each_pmu(root, visit_core, &pmus);
	if (pmus.items.count < 2)
		event_core_pmus_deinit(&pmus);
	*ret = pmus;
}

void event_core_pmus_deinit(struct event_core_pmus *pmus)
{
	for (size_t i = 0; i < pmus->items.count; i++)
		free(pmus->items.items[i].name);
	vector_deinit(&pmus->items);
}
