/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a stream of records to a live profile. What is needed for the first screen, such as the keys
 * and the VMs to be shown, is known when the first sample comes, not before.
 *
 * What was not seen for ten minutes is forgotten, not at once, but when so much is known that it is
 * worth it. Memory is bounded by that, and by the limits of what is kept (live_session.h). The
 * counts begin anew then.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/progress.h"
#include "cmd/profile_options.h"
#include "cmd/recording.h"
#include "cmd/top/top.h"
#include "session/live/live_session.h"

#define HELD_MAX_BYTES ((size_t)64 << 20)
/* Records that change threads and mappings; and addresses, groups and chains. */
#define RECORDS_MAX (1U << 16)
#define COUNTED_MAX (1U << 19)
#define KEPT_NS 600000000000ull
#define LOOK_RECORDS 256 /* after so many: is there too much, was it interrupted? */
#define DEFAULT_DELAY_S 2
#define BROWSER_DELAY_S 0.5

void top_engine_init(struct top_engine *engine, const struct top_config *config,
		     struct perfdata_reader *reader)
{
	double default_delay_s = config->browses ? BROWSER_DELAY_S : DEFAULT_DELAY_S;

	engine->config = config;
	engine->session = live_session_open(reader, &config->symbols);
	engine->ordered = ordered_create(engine->session, LIVE_SESSION_TYPES);
	ordered_limit(engine->ordered, HELD_MAX_BYTES);
	engine->interval_ns = (config->delay_s ? config->delay_s : default_delay_s) * 1e9;
	engine->decay_intervals = config->delay_s ? 1 : DEFAULT_DELAY_S / default_delay_s;
	engine->begin_ns = clock_monotonic_ns();
}

static void subtract(struct profile_totals *totals, const struct profile_totals *less)
{
	totals->host -= less->host;
	totals->guest_kernel -= less->guest_kernel;
	totals->guest_user -= less->guest_user;
	totals->unattributed -= less->unattributed;
	totals->host_counted -= less->host_counted;
	totals->guest_counted -= less->guest_counted;
	totals->lost -= less->lost;
	totals->filtered -= less->filtered;
}

/* What was counted begins anew; what the totals are stays. */
static void drop_counts(struct top_engine *engine)
{
	struct profile_totals counted;

	if (!engine->live)
		return;
	if (engine->dropping)
		engine->dropping(engine, engine->context);
	counted = live_profile_counted(engine->live);
	engine->unwritten = live_profile_totals(engine->live);
	subtract(&engine->unwritten, &counted);
	profile_totals_add(&engine->ended, &counted);
	live_profile_destroy(take_pointer(engine->live));
}

/* Of all samples of the recording so far. */
static struct profile_totals all_totals(struct top_engine *engine)
{
	struct profile_totals all = engine->unwritten;

	if (engine->live)
		all = live_profile_totals(engine->live);
	else if (!engine->config->filters.vms.count)
		all.lost = engine->session->lost;
	profile_totals_add(&all, &engine->ended);
	return all;
}

void top_engine_deinit(struct top_engine *engine)
{
	drop_counts(engine);
	sample_texts_destroy(engine->texts);
	filter_deinit(&engine->filter);
	ordered_destroy(engine->ordered);
	session_close(engine->session);
}

/* The keys used if the user named none: as of report, as far as that can be known now. */
static void default_keys(const struct session *session, struct profile_keys *ret)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	bool guests = inventory ? inventory->guest : session->guest_samples;

	if (inventory || guests)
		profile_keys_add(ret, PROFILE_VM);
	profile_keys_add(ret, guests ? PROFILE_GUEST_COMM : PROFILE_COMM);
	profile_keys_add(ret, PROFILE_DSO);
	profile_keys_add(ret, PROFILE_SYMBOL);
}

/* Stands for VMs that were named, and have not come yet. */
static const struct machine nobody;

/* VMs come and go: the filter has those that are known by now. */
static void select_vms(struct top_engine *engine)
{
	struct session *session = engine->session;
	struct perfdata_news news = perfdata_reader_news(session->reader);

	if (!engine->config->filters.vms.count ||
	    (engine->vms_known.vms == news.vms &&
	     engine->machines_known == session->machines.count))
		return;
	engine->vms_known = news;
	engine->machines_known = session->machines.count;
	engine->filter.any = true;
	engine->filter.vms.count = 0;
	vector_append(&engine->filter.vms, &nobody);
	for (size_t i = 0; i < engine->config->filters.vms.count; i++) {
		struct string_list name = { .items = &engine->config->filters.vms.items[i],
					    .count = 1 };

		error_destroy(recording_select_vms(session, &name, &engine->filter.vms));
	}
	session->stamp++; /* which samples are taken is kept with their contexts */
}

static struct error *choose_options(struct top_engine *engine)
{
	const struct top_config *config = engine->config;
	struct profile_options *options = &engine->options;
	struct filter_options filters = config->filters;
	struct error *error = NULL;

	if (config->record.callchains && !profile_has_chains(engine->session))
		return error_hint(error_create(ERROR_UNSUPPORTED,
					       "the recording has no call chains"),
				  "'perfvisor record -g' records them");
	engine->texts = sample_texts_create(engine->session);
	if (config->sort)
		error = profile_options_parse_keys(config->sort, engine->texts, &options->keys);
	else
		default_keys(engine->session, &options->keys);
	filters.vms.count = 0;
	if (!error)
		error = filter_options_build(&filters, engine->session, &engine->filter);
	options->texts = sample_texts_found(engine->texts);
	options->filter = &engine->filter;
	options->chains = config->record.callchains;
	options->children = options->chains && !config->no_children;
	return error;
}

/* A file has the sums of samples that were not written. They have no times, so no interval. */
static void leave_sums_out(struct top_engine *engine)
{
	struct profile_totals all = all_totals(engine);

	engine->before.host_counted = all.host_counted;
	engine->before.guest_counted = all.guest_counted;
}

static struct error *begin_profile(struct top_engine *engine)
{
	bool first = !engine->options.filter;
	struct error *error = NULL;

	if (first)
		error = choose_options(engine);
	if (error)
		return error;
	select_vms(engine);
	drop_counts(engine);
	engine->live = live_profile_create(engine->session, &engine->options);
	if (first && engine->own_time)
		leave_sums_out(engine);
	return NULL;
}

static bool is_interval_over(const struct top_engine *engine, const struct session_sample *sample)
{
	return engine->own_time && engine->first_ns && engine->session->timed &&
	       sample->decoded.sample.time_ns >= engine->first_ns + engine->interval_ns;
}

static struct error *take_sample(struct top_engine *engine, const struct session_sample *sample)
{
	uint64_t time_ns = sample->decoded.sample.time_ns;
	struct error *error = NULL;

	if (is_interval_over(engine, sample))
		error = engine->refresh(engine, engine->context);
	live_session_see(engine->session, sample);
	if (!error && (!engine->live || !live_profile_fits(engine->live)))
		error = begin_profile(engine);
	if (error)
		return error;
	select_vms(engine);
	if (sample->valid) {
		engine->now = sample->time;
		if (!engine->first_ns)
			engine->first_ns = time_ns;
		if (time_ns > engine->last_ns)
			engine->last_ns = time_ns;
	}
	live_profile_count(engine->live, sample);
	return NULL;
}

/* The times of samples are ns, or without them the numbers of records. */
static void forget(struct top_engine *engine)
{
	uint64_t kept = engine->session->timed ? KEPT_NS : RECORDS_MAX;

	if (engine->session->live_records < RECORDS_MAX &&
	    (!engine->live || live_profile_size(engine->live) < COUNTED_MAX))
		return;
	drop_counts(engine);
	live_session_forget(engine->session, engine->now > kept ? engine->now - kept : 0);
}

struct error *top_engine_run(struct top_engine *engine, enum perfdata_status *ret)
{
	struct error *error = NULL;
	struct perfdata_record record;
	struct session_sample sample;

	*ret = PERFDATA_RECORD;
	for (unsigned i = 1; !error && !engine->stop; i++) {
		*ret = ordered_next_record(engine->ordered, &record, &sample);
		if (*ret != PERFDATA_RECORD)
			return NULL;
		if (record.type == PERF_RECORD_SAMPLE) {
			error = take_sample(engine, &sample);
		} else {
			if (engine->live)
				live_profile_settle(engine->live);
			live_session_take(engine->session, &record);
		}
		if (i % LOOK_RECORDS)
			continue;
		forget(engine);
		if (interrupt_requested())
			return error;
	}
	return error;
}

const struct profile *top_engine_look(struct top_engine *engine, struct top_interval *ret)
{
	const struct profile *profile = engine->live ? live_profile_look(engine->live) : NULL;
	uint64_t ns = engine->own_time ? engine->last_ns - engine->first_ns
				       : clock_monotonic_ns() - engine->begin_ns;

	*ret = (struct top_interval){ .seconds = ns / 1e9, .totals = all_totals(engine) };
	/* What is not written is not known of an interval (leave_sums_out()). */
	ret->totals.host_sampled &= !engine->own_time || ret->totals.host;
	subtract(&ret->totals, &engine->before);
	return profile;
}

void top_engine_next(struct top_engine *engine)
{
	engine->begin_ns = clock_monotonic_ns();
	/* An interval without samples is none: the next one begins with its first sample. */
	engine->first_ns = 0;
	engine->last_ns = 0;
	engine->session->stamp++; /* threads are seen again */
	engine->before = all_totals(engine);
	if (!engine->live)
		return;
	if (engine->config->zero)
		live_profile_decay(engine->live, 0);
	else if (++engine->intervals % engine->decay_intervals == 0)
		live_profile_decay(engine->live, LIVE_PROFILE_EIGHTHS);
}

struct error *top_engine_check_end(struct top_engine *engine)
{
	struct error *error = recording_symbols_error(engine->session);
	struct machine_list vms = { 0 };

	if (!error)
		error = recording_select_vms(engine->session, &engine->config->filters.vms, &vms);
	free(vms.items);
	return error;
}
