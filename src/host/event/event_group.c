/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of events: NAME{EVENT,EVENT…}:MODIFIERS, with the same meaning as in perf (group and
 * group_def in tools/perf/util/parse-events.y). The modifiers are added to each event's own; D and
 * e are the leader's alone, because the kernel takes them of no other (perf_event_open(2)).
 *
 * With S, only the leader takes samples, which have the values of all events
 * (evsel__config_leader_sampling() in tools/perf/util/record.c). As in perf, S at the first event
 * is the same as S at the group.
 *
 * perf divides a group whose events are of several kinds of cores; here that is an error.
 */
#include <stdlib.h>
#include <string.h>

#include "host/event/event_private.h"

#define PMU_TYPE_SHIFT 32 /* PERF_PMU_TYPE_SHIFT of newer headers */
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static struct error *wrong_syntax(const char *text)
{
	return error_hint(error_create(ERROR_USAGE, "'%s' is not a group of events", text),
			  "example: -e '{cycles,instructions}:S'");
}

/* What is between the braces. */
static struct error *parse_members(const char *text, struct host_events *events)
{
	struct error *error = NULL;

	for (bool more = true; more && !error;) {
		size_t length = event_length(text);
		_cleanup_free_ char *one = memory_strndup(text, length);

		error = event_parse_one(one, events);
		more = text[length] == ',';
		text += length + more;
	}
	return error;
}

static struct error *check_values_read(const struct host_events *events, size_t first)
{
	bool read = events->items.items[first].values_read;

	for (size_t i = first; i < events->items.count; i++) {
		const struct host_event *event = &events->items.items[i];

		if (event->values_read && !read)
			return error_create(ERROR_USAGE,
					    "'%s': S is for a group, or for its first event",
					    event->name);
		if (read && i > first && event->rate_set)
			return error_create(ERROR_USAGE,
					    "'%s' has a period, but in a group with S only the "
					    "first event samples", event->name);
		if (read && event->weak)
			return error_create(ERROR_USAGE, "a group has either S or W");
	}
	return NULL;
}

static struct error *check_cores(const struct host_events *events, size_t first)
{
	uint64_t kind = 0;

	for (size_t i = first; i < events->items.count; i++) {
		const struct perf_event_attr *attr = &events->items.items[i].attr;
		bool generalised = attr->type == PERF_TYPE_HARDWARE ||
				   attr->type == PERF_TYPE_HW_CACHE;
		uint64_t its = generalised ? attr->config >> PMU_TYPE_SHIFT : 0;

		if (its && kind && its != kind)
			return error_hint(error_create(ERROR_UNSUPPORTED,
						       "this host has several kinds of cores, and "
						       "a group is of one kind"),
					  "name it in each event: "
					  "{cpu_core/cycles/,cpu_core/instructions/}");
		kind = its ? its : kind;
	}
	return NULL;
}

/* The events from FIRST on become a group. */
static void make_group(struct host_events *events, size_t first, const char *name)
{
	struct host_event *leader = &events->items.items[first];
	size_t size = events->items.count - first;

	leader->group_size = size > 1 ? size : 0;
	leader->group_name = *name ? memory_strdup(name) : NULL;
	for (size_t i = 1; i < size; i++) {
		leader[i].group_rank = i;
		leader[i].values_read = leader->values_read;
	}
}

static struct error *modify(const char *modifiers, struct host_events *events, size_t first)
{
	struct error *error = event_apply_modifiers(modifiers, events, first);

	for (size_t i = first + 1; i < events->items.count; i++) {
		if (strchr(modifiers, 'D'))
			events->items.items[i].attr.pinned = 0;
		if (strchr(modifiers, 'e'))
			events->items.items[i].attr.exclusive = 0;
	}
	return error;
}

struct error *event_parse_group(const char *text, struct host_events *events)
{
	size_t first = events->items.count, name_length = strspn(text, NAME_LETTERS);
	_cleanup_free_ char *name = memory_strndup(text, name_length);
	const char *open = text + name_length, *close = strchr(open, '}');
	_cleanup_free_ char *members = NULL;
	struct error *error;

	if (*open != '{' || !close || (close[1] && close[1] != ':'))
		return wrong_syntax(text);
	members = memory_strndup(open + 1, close - open - 1);
	if (strchr(members, '{'))
		return wrong_syntax(text);
	error = parse_members(members, events);
	if (!error && close[1])
		error = modify(close + 2, events, first);
	if (!error)
		error = check_values_read(events, first);
	if (!error)
		error = check_cores(events, first);
	if (!error)
		make_group(events, first, name);
	return error;
}
