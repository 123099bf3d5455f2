/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which recordings, or VMs of a recording, diff compares. */
#include <linux/perf_event.h>
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

struct time_parts {
	VECTOR(struct range) list; /* inclusive */
};

/* The recording's time, or those parts of it that a filter leaves. */
static void list_time(struct session *session, const struct filter *filter, struct time_parts *ret)
{
	struct filter_span span = filter_find_span(session);

	if (span.last_ns < span.first_ns)
		return;
	if (!filter->times.count)
		vector_append(&ret->list, (struct range){ span.first_ns, span.last_ns });
	for (size_t i = 0; i < filter->times.count; i++) {
		const struct range *range = &filter->times.items[i];
		uint64_t first = range->first > span.first_ns ? range->first : span.first_ns;
		uint64_t last = range->last < span.last_ns ? range->last : span.last_ns;

		if (last > first)
			vector_append(&ret->list, (struct range){ first, last });
	}
}

static uint64_t sum_time(const struct time_parts *parts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < parts->list.count; i++)
		sum += parts->list.items[i].last - parts->list.items[i].first;
	return sum;
}

/* The blocks that the profile's times are cut into, which begin at multiples of QUANTUM_NS. */
static struct judgement_time cut_time(const struct time_parts *parts, uint64_t quantum_ns)
{
	struct judgement_time time = { .span_ns = sum_time(parts), .first_ns = UINT64_MAX };

	for (size_t i = 0; i < parts->list.count; i++)
		if (parts->list.items[i].first < time.first_ns)
			time.first_ns = parts->list.items[i].first;
	time.first_ns -= time.first_ns % quantum_ns;
	for (size_t i = 0; i < parts->list.count; i++) {
		const struct range *part = &parts->list.items[i];
		uint64_t at = part->first;

		while (at < part->last) {
			uint64_t end = at - at % quantum_ns + quantum_ns;
			size_t block = (at - time.first_ns) / quantum_ns % COMPARISON_MAX_BLOCKS;

			end = end < part->last ? end : part->last;
			time.blocks_ns[block] += end - at;
			at = end;
		}
	}
	return time;
}

static void cut_side(struct diff_side *side, struct profile_options *options)
{
	struct time_parts parts = { 0 };

	list_time(side->session, &side->filter, &parts);
	side->quantum_ns = sum_time(&parts) / COMPARISON_BLOCKS + 1;
	side->time = cut_time(&parts, side->quantum_ns);
	options->time_quantum_ns = side->quantum_ns;
	options->times_apart = !options->chains;
	profile_keys_add(&options->keys, PROFILE_TIME);
	vector_deinit(&parts.list);
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
	if (side->session->timed)
		cut_side(side, &options);
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

/* Of clocks, the period of a sample is the time since the one before, in ns. */
static bool is_clock(const struct comparison_side *side)
{
	const struct perf_event_attr *attr =
		side->profile->session->attrs[side->event - side->profile->events];

	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

struct error *diff_sides_weigh_by_time(const struct diff_sides *sides,
				       struct comparison_side *compared)
{
	for (size_t i = 0; i < sides->count; i++) {
		const struct diff_side *side = &sides->items[i];

		if (!is_clock(&compared[i]))
			return error_hint(error_create(ERROR_UNSUPPORTED,
						       "%s: event '%s' counts something else "
						       "than time",
						       side->label, compared[i].event->name),
					  "--weights time is for recordings of a clock, which "
					  "'perfvisor record -e cpu-clock' makes");
		if (!side->quantum_ns || !side->time.span_ns)
			return error_create(ERROR_UNSUPPORTED, "%s: its samples do not say how "
							       "long it took", side->label);
		compared[i].time = &side->time;
	}
	return NULL;
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
