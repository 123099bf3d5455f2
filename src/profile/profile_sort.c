/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts rows in perf's order (hist_entry__sort() in tools/perf/ui/hist.c): by period (by children
 * if chains were counted, with callers before those they call), highest first; ties by the keys in
 * their order, as text. Most rows of a large profile are ties of a single sample, and comparing
 * them is slow. Therefore rows are sorted by one criterion after another, the least important one
 * first, each converted to a number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "profile/profile_rows.h"

#define UNKNOWN_DSO "[unknown]"
#define SIGN (1ULL << 63)
#define RANK_NONE UINT64_MAX /* of what has no name: sorted last */

struct sorter {
	struct profile *profile;
	const struct profile_row *rows;
	size_t count;
	struct sort_key *order;
	uint64_t *values;   /* for each row: the value of the current criterion */
	const char **texts; /* for each row; NULL: none; converted to values */
};

/* Sorts the rows by value; the sort is stable. */
static void sort_by_values(struct sorter *sorter)
{
	for (size_t i = 0; i < sorter->count; i++)
		sorter->order[i].key = sorter->values[sorter->order[i].index];
	sort_keys(sorter->order, sorter->count);
}

#define SORT_BY(sorter, value)                                                                     \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (sorter)->count; i_++) {                                  \
			const struct profile_row *row = &(sorter)->rows[i_];                       \
			(sorter)->values[i_] = (value);                                            \
		}                                                                                  \
		sort_by_values(sorter);                                                            \
	} while (0)

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The different texts of the rows, sorted; many point to the same string. */
static size_t collect_texts(const struct sorter *sorter, struct map *ranks, const char **ret)
{
	size_t count = 0;
	bool added;

	for (size_t i = 0; i < sorter->count; i++) {
		if (!sorter->texts[i])
			continue;
		map_insert(ranks, (uintptr_t)sorter->texts[i], &added);
		if (added)
			ret[count++] = sorter->texts[i];
	}
	qsort(ret, count, sizeof(*ret), compare_texts);
	return count;
}

static void sort_by_texts(struct sorter *sorter)
{
	_cleanup_free_ const char **unique =
		memory_alloc((sorter->count + 1) * sizeof(*unique));
	_cleanup_map_ struct map ranks;
	size_t count;
	uint64_t rank = 0;

	map_init(&ranks);
	count = collect_texts(sorter, &ranks, unique);
	for (size_t i = 0; i < count; i++) {
		rank += i > 0 && strcmp(unique[i - 1], unique[i]);
		*map_find(&ranks, (uintptr_t)unique[i]) = rank;
	}
	for (size_t i = 0; i < sorter->count; i++)
		sorter->values[i] = sorter->texts[i]
					    ? *map_find(&ranks, (uintptr_t)sorter->texts[i])
					    : RANK_NONE;
	sort_by_values(sorter);
}

static const char *comm_of(struct session *session, const struct profile_row *row)
{
	char text[16];

	if (row->comm != TIMELINE_NO_COMM)
		return intern_string(session->strings, row->comm);
	snprintf(text, sizeof(text), ":%d", (int)row->tid);
	return intern_string(session->strings, intern_text(session->strings, text));
}

/* NULL for code in no known file. */
static const char *name_of_dso(const struct profile *profile, const struct profile_row *row)
{
	const char *name = intern_string(profile->session->strings, row->dso);

	return strcmp(name, UNKNOWN_DSO) ? name : NULL;
}

static const char *text_of(const struct sorter *sorter, enum profile_key key,
			   const struct profile_row *row)
{
	struct profile *profile = sorter->profile;

	if (key >= PROFILE_TEXT && key <= PROFILE_TEXT_LAST)
		return intern_string(profile->session->strings, row->texts[key - PROFILE_TEXT]);
	switch (key) {
	case PROFILE_VM:
		return row->vm ? row->vm->name : MACHINE_HOST_NAME;
	case PROFILE_COMM:
		return comm_of(profile->session, row);
	case PROFILE_GUEST_COMM:
		return profile_guest_comm(profile, row);
	case PROFILE_DSO:
		return name_of_dso(profile, row);
	case PROFILE_SOURCE:
		return intern_string(
			profile->session->strings,
			resolver_location(profile->resolver, row->location)->source);
	default:
		return resolver_symbol_name(profile->resolver, row->location);
	}
}

static void sort_by_key(struct sorter *sorter, enum profile_key key)
{
	switch (key) {
	case PROFILE_VCPU:
		SORT_BY(sorter, row->vcpu);
		return;
	case PROFILE_PID:
		SORT_BY(sorter, row->pid);
		return;
	case PROFILE_TID:
		SORT_BY(sorter, row->tid);
		return;
	case PROFILE_CPU:
		SORT_BY(sorter, row->cpu);
		return;
	case PROFILE_TIME:
		SORT_BY(sorter, row->time_ns);
		return;
	case PROFILE_GUEST_PID:
		SORT_BY(sorter, row->guest_pid);
		return;
	case PROFILE_MODE:
		SORT_BY(sorter, row->cpumode);
		return;
	case PROFILE_SYMBOL: /* equal names by address, which is signed in perf */
		SORT_BY(sorter, SIGN ^ resolver_location(sorter->profile->resolver,
							 row->location)->address);
		break;
	default:
		break;
	}
	for (size_t i = 0; i < sorter->count; i++)
		sorter->texts[i] = text_of(sorter, key, &sorter->rows[i]);
	sort_by_texts(sorter);
}

static void sort_by_keys(struct sorter *sorter, const struct profile_keys *keys)
{
	for (size_t i = keys->count; i-- > 0;)
		sort_by_key(sorter, keys->items[i]);
}

static void sort_rows(struct sorter *sorter, const struct profile_options *options)
{
	for (size_t i = 0; i < sorter->count; i++)
		sorter->order[i].index = i;
	SORT_BY(sorter, ~row->count);
	sort_by_keys(sorter, &options->keys);
	SORT_BY(sorter, ~row->period);
	SORT_BY(sorter, row->children ? row->depth : 0);
	SORT_BY(sorter, ~row->children);
	sort_by_keys(sorter, &options->first);
}

/*
 * Puts row ORDER[i] in place i, without a copy of all rows: along each cycle of rows that take each
 * other's places. ORDER is used up.
 */
static void put_in_order(struct profile_row *rows, struct sort_key *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct profile_row first = rows[i];
		size_t place = i, from;

		while ((from = order[place].index) != i) {
			rows[place] = rows[from];
			order[place].index = place;
			place = from;
		}
		rows[place] = first;
		order[place].index = place;
	}
}

void profile_rows_sort(struct profile *profile, const struct profile_options *options,
		       struct profile_event *event)
{
	size_t count = event->rows.count;
	_cleanup_free_ struct sort_key *order = memory_calloc(count + 1, sizeof(*order));
	_cleanup_free_ uint64_t *values = memory_alloc((count + 1) * sizeof(*values));
	_cleanup_free_ const char **texts = memory_alloc((count + 1) * sizeof(*texts));
	struct sorter sorter = { .profile = profile, .rows = event->rows.items, .count = count,
				 .order = order, .values = values, .texts = texts };

	sort_rows(&sorter, options);
	put_in_order(event->rows.items, order, count);
}
