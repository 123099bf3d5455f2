/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate/function_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/context.h"

enum place { PLACE_UNKNOWN, PLACE_CHOSEN, PLACE_OTHER };

struct counting {
	struct functions_samples *to;
	const struct function_choice *choice;
	struct context_cache *contexts;
	struct filtering filtering;
	VECTOR(uint8_t) places; /* enum place, by location */
	struct map functions;	/* event and location -> index in to->items */
};

static enum place judge(struct counting *counting, uint32_t location)
{
	const struct function_choice *choice = counting->choice;
	struct resolver *resolver = counting->to->resolver;
	const char *name;

	if (!resolver_location(resolver, location)->symbol)
		return PLACE_OTHER;
	if (choice->dso && strcmp(choice->dso, intern_string(counting->to->session->strings,
							     resolver_dso_name(resolver,
									       location))))
		return PLACE_OTHER;
	if (!choice->symbol)
		return PLACE_CHOSEN;
	name = resolver_symbol_name(resolver, location);
	return name && !strcmp(choice->symbol, name) ? PLACE_CHOSEN : PLACE_OTHER;
}

static bool is_chosen(struct counting *counting, uint32_t location)
{
	while (counting->places.count <= location)
		vector_append(&counting->places, PLACE_UNKNOWN);
	if (counting->places.items[location] == PLACE_UNKNOWN)
		counting->places.items[location] = judge(counting, location);
	return counting->places.items[location] == PLACE_CHOSEN;
}

static struct function_samples *function_of(struct counting *counting,
					    const struct session_sample *sample,
					    const struct context *context, uint32_t location)
{
	uint32_t event = sample->decoded.event_index;
	bool added;
	uint64_t *place = map_insert(&counting->functions, (uint64_t)event << 32 | location,
				     &added);
	struct function_samples function = { .event = event, .location = location,
					     .machine = context->machine,
					     .kernel = MACHINE_NO_KERNEL };

	if (added) {
		if (machine_is_guest(context->machine))
			function.kernel = session_kernel_at(context->machine, sample->time);
		map_init(&function.by_offset);
		*place = counting->to->items.count;
		vector_append(&counting->to->items, function);
	}
	return &counting->to->items.items[*place];
}

static void count_at(struct function_samples *function, uint64_t offset, uint64_t period)
{
	bool added;
	uint64_t *place = map_insert(&function->by_offset, offset, &added);
	struct address_samples *at;

	if (added) {
		*place = function->addresses.count;
		vector_append(&function->addresses, (struct address_samples){ .offset = offset });
	}
	at = &function->addresses.items[*place];
	at->period += period;
	at->count++;
	function->period += period;
	function->count++;
}

static void count_sample(struct counting *counting, const struct session_sample *sample)
{
	struct functions_samples *to = counting->to;
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct context *context;
	struct resolved resolved;

	if (!sample->valid)
		return;
	context = context_find(counting->contexts, sample);
	if (counting->choice->vm && context->vm != counting->choice->vm)
		return;
	if (counting->filtering.filter && counting->filtering.filter->any &&
	    filtering_judge(&counting->filtering, to->session, sample, context) != FILTER_TAKES)
		return;
	to->samples++;
	to->event_periods[sample->decoded.event_index] += fields->period;
	if (!context->machine)
		return;
	resolved = resolver_find(to->resolver, context->machine, context->space, fields->ip,
				 sample->time);
	if (!is_chosen(counting, resolved.location))
		return;
	count_at(function_of(counting, sample, context, resolved.location),
		 resolved.address - resolver_symbol_start(to->resolver, resolved.location),
		 fields->period);
}

static int compare(const void *left_data, const void *right_data)
{
	const struct function_samples *left = left_data, *right = right_data;

	if (left->event != right->event)
		return left->event < right->event ? -1 : 1;
	if (left->period != right->period)
		return left->period < right->period ? 1 : -1;
	return left->location < right->location ? -1 : 1; /* the same each time */
}

void functions_samples_count(struct session *session, const struct function_choice *choice,
			     struct functions_samples *ret)
{
	struct counting counting = { .to = ret, .choice = choice,
				     .contexts = memory_alloc(sizeof(*counting.contexts)) };
	struct session_sample sample;

	*ret = (struct functions_samples){
		.session = session, .resolver = resolver_create(session),
		.texts = source_texts_create(),
		.event_periods = memory_calloc(session->event_count + 1,
					       sizeof(*ret->event_periods)) };
	context_cache_init(counting.contexts, session);
	filtering_init(&counting.filtering, choice->filter, ret->resolver);
	map_init(&counting.functions);
	session_rewind(session);
	while (session_next_plain(session, &sample) == PERFDATA_RECORD)
		count_sample(&counting, &sample);
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), compare);
	map_deinit(&counting.functions);
	vector_deinit(&counting.places);
	filtering_deinit(&counting.filtering);
	free(counting.contexts);
}

void functions_samples_deinit(struct functions_samples *functions)
{
	for (size_t i = 0; i < functions->items.count; i++) {
		vector_deinit(&functions->items.items[i].addresses);
		map_deinit(&functions->items.items[i].by_offset);
	}
	vector_deinit(&functions->items);
	free(functions->event_periods);
	resolver_destroy(functions->resolver);
	source_texts_destroy(functions->texts);
}
