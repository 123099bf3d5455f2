/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A natural merge sort: finds runs that are already sorted and merges neighbours, pass by pass. */
#include "session/order.h"

#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

struct runs {
	VECTOR(size_t) starts; /* and the end of the last one */
};

static void find_runs(const struct order_entry *entries, size_t count, struct runs *runs)
{
	vector_append(&runs->starts, 0);
	for (size_t i = 1; i < count; i++)
		if (entries[i].time < entries[i - 1].time)
			vector_append(&runs->starts, i);
	vector_append(&runs->starts, count);
}

static void merge(const struct order_entry *from, size_t left, size_t middle, size_t end,
		  struct order_entry *to)
{
	size_t right = middle;

	for (size_t at = left, i = left; at < end; at++) {
		if (right >= end || (i < middle && from[i].time <= from[right].time))
			to[at] = from[i++];
		else
			to[at] = from[right++];
	}
}

/* Merges pairs of neighbouring runs of FROM into TO, which halves RUNS. */
static void merge_pass(const struct order_entry *from, struct order_entry *to, struct runs *runs)
{
	size_t *starts = runs->starts.items;
	size_t run_count = runs->starts.count - 1, kept = 0;

	for (size_t i = 0; i < run_count; i += 2) {
		size_t start = starts[i];

		if (i + 1 < run_count)
			merge(from, start, starts[i + 1], starts[i + 2], to);
		else
			memcpy(to + start, from + start,
			       (starts[i + 1] - start) * sizeof(*from));
		starts[kept++] = start;
	}
	starts[kept++] = starts[run_count];
	runs->starts.count = kept;
}

void order_sort(struct order_entry *entries, size_t count)
{
	struct runs runs = { 0 };
	struct order_entry *scratch, *from = entries, *to;

	if (count < 2)
		return;
	find_runs(entries, count, &runs);
	if (runs.starts.count > 2) {
		to = scratch = memory_calloc(count, sizeof(*scratch));
		while (runs.starts.count > 2) {
			struct order_entry *merged = to;

			merge_pass(from, to, &runs);
			to = from;
			from = merged;
		}
		if (from != entries)
			memcpy(entries, from, count * sizeof(*entries));
		free(scratch);
	}
	vector_deinit(&runs.starts);
}
