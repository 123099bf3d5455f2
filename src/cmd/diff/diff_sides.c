/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which recordings, or VMs of a recording, diff compares. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/memory.h"
#include "cmd/diff/diff.h"

#define OLD ".old" /* what record makes of a recording's name when it writes a new one */

static bool exists(const char *path)
{
	struct stat status;

	return !stat(path, &status);
}

static struct error *add_side(struct diff_sides *sides, const char *path, const char *vm)
{
	if (sides->count == COMPARISON_MAX_SIDES)
		return error_create(ERROR_USAGE, "at most %d recordings or VMs can be compared",
				    COMPARISON_MAX_SIDES);
	sides->items[sides->count++] = (struct diff_side){ .path = path, .vm = vm };
	return NULL;
}

/* PATH.old and PATH. PATH is in a list that outlives the sides, or constant. */
static struct error *add_old_and_new(struct diff_sides *sides, const char *path)
{
	_cleanup_free_ char *old = memory_printf("%s" OLD, path);
	struct error *error;

	if (!exists(old))
		return error_hint(error_create(ERROR_NOT_FOUND, "there is nothing to compare "
					       "'%s' with: no '%s'", path, old),
				  "'perfvisor diff OLD NEW' names both; 'perfvisor record' keeps "
				  "the recording before as .old");
	error = add_side(sides, NULL, NULL);
	if (!error) {
		sides->items[sides->count - 1].label = take_pointer(old);
		sides->items[sides->count - 1].path = sides->items[sides->count - 1].label;
		error = add_side(sides, path, NULL);
	}
	return error;
}

/* As perf kvm diff, the guest with the host; otherwise the last two of what is here. */
static struct error *add_usual(struct diff_sides *sides)
{
	const char *newest;
	struct error *error;

	if (exists("perf.data.host") && exists("perf.data.guest")) {
		error = add_side(sides, "perf.data.host", NULL);
		return error ? error : add_side(sides, "perf.data.guest", NULL);
	}
	newest = recording_find();
	if (!newest)
		return error_hint(error_create(ERROR_NOT_FOUND,
					       "there is no recording in this folder"),
				  "'perfvisor record' makes one; 'perfvisor diff OLD NEW' says "
				  "which to compare");
	return add_old_and_new(sides, newest);
}

static struct error *choose(const struct diff_config *config, const struct string_list *paths,
			    struct diff_sides *ret)
{
	const struct string_list *vms = &config->filters.vms;
	struct error *error = NULL;
	const char *path = paths->count ? paths->items[0] : NULL;

	if (paths->count <= 1 && vms->count >= 2) {
		path = path ? path : recording_find();
		if (!path)
			return error_create(ERROR_NOT_FOUND,
					    "there is no recording in this folder");
		for (size_t i = 0; !error && i < vms->count; i++)
			error = add_side(ret, path, vms->items[i]);
		return error;
	}
	if (!path)
		return add_usual(ret);
	if (paths->count == 1)
		return add_old_and_new(ret, path);
	for (size_t i = 0; !error && i < paths->count; i++)
		error = add_side(ret, paths->items[i], NULL);
	return error;
}

/* A recording that several sides share is opened once. */
static struct error *open_side(const struct diff_config *config, struct diff_sides *sides,
			       size_t number)
{
	struct diff_side *side = &sides->items[number];
	struct error *error;

	if (side->vm && number) {
		side->session = sides->items[0].session;
	} else {
		error = recording_open(side->path, &config->symbols, &side->path, &side->session);
		if (error)
			return error;
		side->owns_session = true;
	}
	if (side->vm)
		side->label = memory_printf("%s, VM %s", side->path, side->vm);
	else if (!side->label)
		side->label = memory_strdup(side->path);
	return NULL;
}

struct error *diff_sides_open(const struct diff_config *config, const struct string_list *paths,
			      struct diff_sides *ret)
{
	const char *inputs[COMPARISON_MAX_SIDES];
	struct error *error;

	*ret = (struct diff_sides){ .count = 0 };
	error = choose(config, paths, ret);
	for (size_t i = 0; !error && i < ret->count; i++)
		inputs[i] = ret->items[i].path;
	if (!error)
		error = recording_raise_walls(inputs, ret->count, &config->symbols, NULL);
	for (size_t i = 0; !error && i < ret->count; i++)
		error = open_side(config, ret, i);
	return error;
}

/* The recording's time, or that part of it that a filter leaves. */
static uint64_t span_ns(struct session *session, const struct filter *filter)
{
	struct filter_span span = filter_find_span(session);
	uint64_t sum = 0;

	if (span.last_ns < span.first_ns)
		return 0;
	for (size_t i = 0; i < filter->times.count; i++) {
		const struct range *range = &filter->times.items[i];
		uint64_t first = range->first > span.first_ns ? range->first : span.first_ns;
		uint64_t last = range->last < span.last_ns ? range->last : span.last_ns;

		sum += last > first ? last - first : 0;
	}
	return filter->times.count ? sum : span.last_ns - span.first_ns;
}

static struct error *count_side(const struct diff_config *config, struct diff_side *side,
				const struct profile_options *how)
{
	struct profile_options options = *how;
	struct filter_options filters = config->filters;
	struct error *error;

	if (side->vm)
		filters.vms = (struct string_list){ .items = &side->vm, .count = 1 };
	error = filter_options_build(&filters, side->session, &side->filter);
	if (error)
		return error;
	options.filter = &side->filter;
	if (side->session->timed) {
		options.time_quantum_ns =
			span_ns(side->session, &side->filter) / COMPARISON_BLOCKS + 1;
		options.times_apart = !options.chains;
		side->quantum_ns = options.time_quantum_ns;
		profile_keys_add(&options.keys, PROFILE_TIME);
	}
	side->profile = profile_create(side->session, &options);
	return recording_symbols_error(side->session);
}

struct error *diff_sides_count(const struct diff_config *config, struct diff_sides *sides,
			       const struct profile_options *options)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < sides->count; i++)
		error = count_side(config, &sides->items[i], options);
	for (size_t i = 0; !error && i < sides->count; i++) {
		if (sides->items[i].owns_session)
			recording_warn(sides->items[i].session, sides->items[i].path);
		if (!profile_totals_sum(&sides->items[i].profile->totals))
			log_warning("%s: there are no samples to compare", sides->items[i].label);
	}
	return error;
}

/* Events are the same if their names are, whatever their modifiers: cycles:G is cycles:H. */
static bool is_same_event(const char *left, const char *right)
{
	size_t length = strcspn(left, ":"), other = strcspn(right, ":");

	if (left[length] && strchr(left + length + 1, ':')) /* a tracepoint */
		return !strcmp(left, right);
	return length == other && !strncmp(left, right, length);
}

static const struct profile_event *find_event(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->event_count; i++)
		if (profile->events[i].samples && is_same_event(profile->events[i].name, name))
			return &profile->events[i];
	return NULL;
}

static size_t count_events(const struct profile *profile, const struct profile_event **ret_last)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->event_count; i++) {
		if (!profile->events[i].samples)
			continue;
		*ret_last = &profile->events[i];
		count++;
	}
	return count;
}

bool diff_sides_next_event(const struct diff_sides *sides, size_t *at,
			   struct comparison_side *ret)
{
	const struct profile *first = sides->items[0].profile;
	bool lone = !*at, all = false;

	for (size_t i = 0; i < sides->count; i++) {
		ret[i] = (struct comparison_side){ .profile = sides->items[i].profile,
						   .quantum_ns = sides->items[i].quantum_ns };
		lone &= count_events(ret[i].profile, &ret[i].event) == 1;
	}
	if (lone)
		*at = SIZE_MAX;
	while (!lone && !all && *at < first->event_count) {
		ret->event = &first->events[(*at)++];
		all = ret->event->samples;
		for (size_t i = 1; i < sides->count; i++) {
			ret[i].event = find_event(ret[i].profile, ret->event->name);
			all &= ret[i].event != NULL;
		}
	}
	return lone || all;
}

struct error *diff_no_event(void)
{
	return error_create(ERROR_NOT_FOUND, "no event has samples in all of what is compared");
}

void diff_sides_deinit(struct diff_sides *sides)
{
	for (size_t i = 0; i < sides->count; i++) {
		profile_destroy(sides->items[i].profile);
		filter_deinit(&sides->items[i].filter);
		free(sides->items[i].label);
	}
	for (size_t i = 0; i < sides->count; i++)
		if (sides->items[i].owns_session)
			session_close(sides->items[i].session);
}
