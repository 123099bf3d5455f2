/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns -e, -F and -c into events that can be opened: chooses the default event if none is named,
 * what to sample of host and guests, and the rate, and tries to open each event once.
 *
 * The default rate is 999 Hz, so as not to be in step with anything that happens every millisecond.
 * A tracepoint without a rate is sampled on every hit, as in perf. In a group with S only the first
 * event has a rate.
 */
#include <stdio.h>

#include "base/buffer.h"
#include "base/log.h"
#include "cmd/record/record.h"
#include "host/event/event_choice.h"
#include "host/event/tracefs.h"

#define DEFAULT_HZ 999
#define USUAL_LIMIT_HZ 100000 /* DEFAULT_MAX_SAMPLE_RATE of kernel/events/core.c */

static uint64_t max_sample_rate(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");
	unsigned long long rate;

	return file && fscanf(file, "%llu", &rate) == 1 && rate ? rate : UINT64_MAX;
}

/*
 * The kernel refuses rates above its limit, and lowers the limit by itself if sampling gets slow.
 */
static uint64_t allowed_frequency(const struct record_options *options)
{
	uint64_t wanted = options->frequency ? options->frequency : DEFAULT_HZ;
	uint64_t limit = max_sample_rate();

	if (wanted == RECORD_FREQUENCY_MAX) {
		limit = limit == UINT64_MAX ? USUAL_LIMIT_HZ : limit;
		log_note("-F max is %llu samples per second here", (unsigned long long)limit);
		return limit;
	}
	if (wanted <= limit)
		return wanted;
	log_warning(
		"the kernel allows at most %llu samples per second, so -F %llu is lowered to that "
		"(kernel.perf_event_max_sample_rate)",
		(unsigned long long)limit, (unsigned long long)wanted);
	return limit;
}

static struct error *choose_event(bool guest, bool host, struct record_events *events)
{
	struct host_event_choice choice = { 0 };
	struct error *error = host_event_choose(guest, host, &choice);

	if (error)
		return error;
	error = host_events_parse(choice.event, &events->list);
	events->choice = memory_strdup(choice.why);
	host_event_choice_deinit(&choice);
	return error;
}

static void set_rate(struct host_event *event, const struct record_options *options,
		     uint64_t frequency)
{
	bool each = event->tracepoint && !options->frequency && !options->count;

	if (event->rate_set || !host_event_samples(event))
		return;
	event->attr.freq = !options->count && !each;
	if (event->attr.freq)
		event->attr.sample_freq = frequency;
	else
		event->attr.sample_period = each ? 1 : options->count;
}

static void warn_of_harm(const struct host_event *event)
{
	_cleanup_free_ char *harm = host_event_harm(event, host_kvm_vpmu(HOST_KVM_MODULES));

	if (harm)
		log_warning("%s", harm);
}

static struct error *prepare_event(struct host_event *event, const struct record_options *options,
				   uint64_t frequency, host_modes *ret_modes)
{
	host_event_set_modes(event, options->guest, options->host, ret_modes);
	set_rate(event, options, frequency);
	host_event_set_sampling(event);
	if (options->callchains) {
		event->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		/* The kernel does not provide the guests' chains. */
		event->attr.exclude_callchain_kernel = !options->host;
		event->attr.exclude_callchain_user = !options->host;
	}
	warn_of_harm(event);
	return host_event_probe(event);
}

/* As in perf, a --filter is for all events of the -e before it. */
static struct error *add_filters(const struct record_options *options, size_t place,
				 struct record_events *events, size_t first)
{
	struct error *error = NULL;

	for (size_t i = 0; i < options->filters.count; i++) {
		const struct placed_string *filter = &options->filters.items[i];

		if (filter->place == place && first == events->list.items.count)
			return error_hint(error_create(ERROR_USAGE,
						       "--filter '%s' follows no event",
						       filter->text),
					  "it follows their -e: -e kvm:kvm_exit --filter "
					  "'vcpu_id == 0'");
		for (size_t event = first; event < events->list.items.count && !error; event++)
			if (filter->place == place)
				error = host_event_add_filter(&events->list.items.items[event],
							      filter->text);
	}
	return error;
}

/* The events of -e, one after another, and their filters. */
static struct error *parse_events(const struct record_options *options,
				  struct record_events *events)
{
	struct error *error = add_filters(options, 0, events, 0);

	for (size_t i = 0; i < options->events.count && !error; i++) {
		size_t first = events->list.items.count;

		error = host_events_parse(options->events.items[i], &events->list);
		if (!error)
			error = add_filters(options, i + 1, events, first);
	}
	return error;
}

static struct error *prepare_all(const struct record_options *options,
				 struct record_events *events)
{
	struct error *error = NULL;

	for (size_t i = 0; i < events->list.items.count && !error; i++) {
		host_modes modes = 0;

		error = prepare_event(&events->list.items.items[i], options, events->frequency,
				      &modes);
		vector_append(&events->modes, modes);
	}
	for (size_t i = 0; i < events->list.items.count && !error; i++)
		if (events->list.items.items[i].group_size)
			error = host_event_probe_group(&events->list.items.items[i]);
	return error;
}

struct error *record_events_prepare(const struct record_options *options, struct record_events *ret)
{
	struct record_events events = { 0 };
	struct error *error = NULL;

	if (options->qmp)
		return record_qmp_prepare_event(options, ret);
	events.frequency = options->count ? 0 : allowed_frequency(options);

	error = parse_events(options, &events);
	if (!error && !options->events.count)
		error = choose_event(options->guest, options->host, &events);
	else
		events.choice = memory_strdup("");
	if (!error)
		error = prepare_all(options, &events);
	if (error) {
		record_events_deinit(&events);
		return error;
	}
	*ret = events;
	return NULL;
}

void record_events_deinit(struct record_events *events)
{
	host_events_deinit(&events->list);
	vector_deinit(&events->modes);
	free(events->choice);
}

struct error *record_events_tracing_data(const struct record_events *events, struct buffer *out)
{
	size_t count = events->list.items.count, tracepoints = 0;
	_cleanup_free_ uint64_t *ids = memory_calloc(count, sizeof(*ids));
	const char *root = tracefs_find();

	for (size_t i = 0; i < count; i++)
		if (events->list.items.items[i].tracepoint)
			ids[tracepoints++] = events->list.items.items[i].attr.config;
	if (!tracepoints || !root)
		return NULL;
	return tracefs_build_tracing_data(root, ids, tracepoints, out);
}
