/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Equal rows are found by interning their bytes. */
#include "profile/branches.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "perfdata/branch.h"
#include "session/context.h"

struct counting {
	struct session *session;
	struct resolver *resolver;
	struct context_cache *contexts;
	struct intern *rows; /* each without its count */
	VECTOR(uint64_t) counts;
	bool wanted[BRANCH_KEYS];
	struct filtering filtering;
};

static bool has_branches(const struct perf_event_attr *attr)
{
	return (attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
	       !perfdata_branch_is_call_stack(attr);
}

bool branches_are_recorded(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (has_branches(session->attrs[i]))
			return true;
	return false;
}

static void find_end(struct counting *counting, const struct session_sample *sample,
		     uint64_t address, bool dso, bool symbol, struct branch_end *ret)
{
	struct machine *machine;
	struct space *space;
	uint32_t location = 0;

	if (!dso && !symbol)
		return;
	space = context_address_space(counting->session, sample, address, &machine);
	if (space)
		location = resolver_find(counting->resolver, machine, space, address, sample->time)
				   .location;
	if (dso)
		ret->dso = space ? resolver_dso_name(counting->resolver, location)
				 : intern_text(counting->session->strings, "[unknown]");
	if (!symbol)
		return;
	ret->kernel = address >> 63;
	if (space && resolver_location(counting->resolver, location)->dso != LOCATION_NO_DSO)
		ret->location = location + 1;
	if (!ret->location || !resolver_symbol_name(counting->resolver, location))
		ret->ip = address;
}

static void count_branch(struct counting *counting, const struct session_sample *sample,
			 const struct context *context, const struct perfdata_branch *branch)
{
	const bool *wanted = counting->wanted;
	struct branch_row row;
	uint32_t number;

	memset(&row, 0, sizeof(row)); /* its padding, too: rows are compared as bytes */
	row.event = sample->decoded.event_index;
	if (wanted[BRANCH_COMM]) {
		row.comm = context->final_comm;
		row.tid = context->final_comm == TIMELINE_NO_COMM ? context->tid : 0;
	}
	find_end(counting, sample, branch->from, wanted[BRANCH_DSO_FROM],
		 wanted[BRANCH_SYMBOL_FROM], &row.from);
	find_end(counting, sample, branch->to, wanted[BRANCH_DSO_TO], wanted[BRANCH_SYMBOL_TO],
		 &row.to);
	row.mispredicted = wanted[BRANCH_MISPREDICT] && branch->mispredicted;
	row.predicted = wanted[BRANCH_MISPREDICT] && branch->predicted;
	row.cycles = wanted[BRANCH_CYCLES] ? branch->cycles : 0;
	number = intern_bytes(counting->rows, (const char *)&row, sizeof(row));
	while (counting->counts.count <= number)
		vector_append(&counting->counts, 0);
	counting->counts.items[number]++;
}

static void count_sample(struct counting *counting, const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	bool swap = perfdata_reader_swap(counting->session->reader);
	struct context *context;

	if (!sample->valid || !has_branches(counting->session->attrs[sample->decoded.event_index]))
		return;
	context = context_find(counting->contexts, sample);
	if (counting->filtering.filter->any &&
	    filtering_judge(&counting->filtering, counting->session, sample, context) !=
		    FILTER_TAKES)
		return;
	for (uint64_t i = 0; i < fields->branch_count; i++) {
		struct perfdata_branch branch = perfdata_branch_take(fields, swap, i);

		count_branch(counting, sample, context, &branch);
	}
}

static int compare_rows(const void *left_data, const void *right_data)
{
	const struct branch_row *left = left_data, *right = right_data;

	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	/* Any order, but the same each time. */
	return memcmp(&left->event, &right->event,
		      sizeof(*left) - offsetof(struct branch_row, event));
}

static void collect_rows(const struct counting *counting, struct branches *ret)
{
	for (size_t i = 0; i < counting->counts.count; i++) {
		struct branch_row row;

		if (!counting->counts.items[i])
			continue; /* the empty string */
		memcpy(&row, intern_string(counting->rows, i), sizeof(row));
		row.count = counting->counts.items[i];
		vector_append(&ret->rows, row);
	}
	if (ret->rows.count)
		qsort(ret->rows.items, ret->rows.count, sizeof(*ret->rows.items), compare_rows);
}

void branches_count(struct session *session, const struct branch_keys *keys,
		    const struct filter *filter, struct branches *ret)
{
	struct counting counting = { .session = session, .rows = intern_create(),
				     .resolver = resolver_create(session),
				     .contexts = memory_alloc(sizeof(*counting.contexts)) };
	struct session_sample sample;

	for (size_t i = 0; i < keys->count; i++)
		counting.wanted[keys->items[i]] = true;
	context_cache_init(counting.contexts, session);
	filtering_init(&counting.filtering, filter, counting.resolver);
	session_rewind(session);
	while (session_next_sample(session, &sample) == PERFDATA_RECORD)
		count_sample(&counting, &sample);
	*ret = (struct branches){ .session = session, .resolver = counting.resolver };
	collect_rows(&counting, ret);
	filtering_deinit(&counting.filtering);
	vector_deinit(&counting.counts);
	intern_destroy(counting.rows);
	free(counting.contexts);
}

void branches_deinit(struct branches *branches)
{
	resolver_destroy(branches->resolver);
	vector_deinit(&branches->rows);
}
