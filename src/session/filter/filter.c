/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds for all samples of a context is asked once and kept with it; what depends on the
 * address is kept by location.
 */
#include "session/filter/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Kept of a location. */
enum {
	LOCATION_KNOWN = 1,
	LOCATION_TAKEN = 2, /* but perhaps for the symbols asked for, which … */
	LOCATION_NAMED = 4, /* … it is one of */
};

void filter_deinit(struct filter *filter)
{
	free(filter->vms.items);
	free(filter->vcpus.items);
	free(filter->pids.items);
	free(filter->tids.items);
	free(filter->cpus.items);
	free(filter->times.items);
	free(filter->addresses.items);
	free(filter->symbols.items);
	free(filter->symbol_parts.items);
	free(filter->comms.items);
	free(filter->dsos.items);
	arena_destroy(filter->texts);
}

static bool has_text(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], text))
			return true;
	return false;
}

bool filter_takes_vm(const struct filter *filter, const struct machine *vm)
{
	if (!filter || !filter->vms.count)
		return true;
	for (size_t i = 0; i < filter->vms.count; i++)
		if (filter->vms.items[i] == vm)
			return true;
	return false;
}

/* By the name that the thread had then; without one by its first, or by perf's ":TID". */
static bool takes_comm(const struct filter *filter, struct session *session,
		       const struct context *context)
{
	uint32_t comm = context->comm != TIMELINE_NO_COMM ? context->comm : context->final_comm;
	char unnamed[16];
	bool takes;

	if (!filter->comms.count)
		return true;
	snprintf(unnamed, sizeof(unnamed), ":%d", (int)context->tid);
	pthread_mutex_lock(&session->lock);
	takes = has_text(&filter->comms, comm == TIMELINE_NO_COMM
						 ? unnamed
						 : intern_string(session->strings, comm));
	pthread_mutex_unlock(&session->lock);
	return takes;
}

static bool takes_context(const struct filter *filter, struct session *session,
			  const struct context *context)
{
	if (!filter_takes_vm(filter, context->vm))
		return false;
	if (filter->cpumodes && !(filter->cpumodes >> context->cpumode & 1))
		return false;
	if (filter->vcpus.count && (context->vcpu == PERFDATA_NO_VCPU ||
				    !ranges_admit(&filter->vcpus, context->vcpu)))
		return false;
	return ranges_admit(&filter->pids, context->pid) &&
	       ranges_admit(&filter->tids, context->tid) &&
	       takes_comm(filter, session, context);
}

static bool takes_dso(const struct filter *filter, struct resolver *resolver, uint32_t location,
		      struct session *session)
{
	return !filter->dsos.count ||
	       has_text(&filter->dsos, resolver_dso_path(resolver, location)) ||
	       has_text(&filter->dsos, intern_string(session->strings,
						     resolver_dso_name(resolver, location)));
}

static bool has_part(const struct filter *filter, const char *name)
{
	for (size_t i = 0; name && i < filter->symbol_parts.count; i++)
		if (strstr(name, filter->symbol_parts.items[i]))
			return true;
	return !filter->symbol_parts.count;
}

static uint8_t judge_location(const struct filtering *filtering, struct session *session,
			      uint32_t location)
{
	const struct filter *filter = filtering->filter;
	uint8_t kept = LOCATION_KNOWN;
	const char *name;

	pthread_mutex_lock(&session->lock);
	name = resolver_symbol_name(filtering->resolver, location);
	if (takes_dso(filter, filtering->resolver, location, session) && has_part(filter, name))
		kept |= LOCATION_TAKEN;
	if (name && has_text(&filter->symbols, name))
		kept |= LOCATION_NAMED;
	pthread_mutex_unlock(&session->lock);
	return kept;
}

static bool takes_location(struct filtering *filtering, struct session *session,
			   uint32_t location, uint64_t ip)
{
	const struct filter *filter = filtering->filter;
	uint8_t *kept;

	while (filtering->places.count <= location)
		vector_append(&filtering->places, 0);
	kept = &filtering->places.items[location];
	if (!*kept)
		*kept = judge_location(filtering, session, location);
	if (!(*kept & LOCATION_TAKEN))
		return false;
	return (!filter->symbols.count && !filter->addresses.count) || (*kept & LOCATION_NAMED) ||
	       (filter->addresses.count && ranges_admit(&filter->addresses, ip));
}

static bool is_outside(const struct filter *filter, const struct perfdata_sample *sample)
{
	return !ranges_admit(&filter->times, sample->time_ns) ||
	       !ranges_admit(&filter->cpus, sample->cpu);
}

void filtering_init(struct filtering *filtering, const struct filter *filter,
		    struct resolver *resolver)
{
	*filtering = (struct filtering){ .filter = filter, .resolver = resolver };
}

void filtering_deinit(struct filtering *filtering)
{
	vector_deinit(&filtering->places);
}

enum filter_verdict filtering_judge(struct filtering *filtering, struct session *session,
				    const struct session_sample *sample, struct context *context)
{
	const struct filter *filter = filtering->filter;
	uint64_t ip = sample->decoded.sample.ip;
	struct resolved resolved;

	if (is_outside(filter, &sample->decoded.sample))
		return FILTER_OUTSIDE;
	if (!context->taken)
		context->taken = takes_context(filter, session, context) ? CONTEXT_TAKEN
									 : CONTEXT_LEFT_OUT;
	if (context->taken == CONTEXT_LEFT_OUT)
		return FILTER_LEAVES_OUT;
	if (!filter->places)
		return FILTER_TAKES;
	resolved = resolver_find(filtering->resolver, context->machine, context->space, ip,
				 sample->time);
	return takes_location(filtering, session, resolved.location, ip) ? FILTER_TAKES
									 : FILTER_LEAVES_OUT;
}
