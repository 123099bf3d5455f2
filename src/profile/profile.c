/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a profile: counts the samples (counting.c), and turns the counts into rows and a call tree
 * (profile_rows.c).
 */
#include "profile/profile.h"

#include "base/memory.h"
#include "profile/calltree.h"
#include "profile/counting.h"
#include "profile/profile_private.h"
#include "profile/profile_rows.h"

bool profile_keys_have(const struct profile_keys *keys, enum profile_key key)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->items[i] == key)
			return true;
	return false;
}

void profile_keys_add(struct profile_keys *keys, enum profile_key key)
{
	if (!profile_keys_have(keys, key))
		keys->items[keys->count++] = key;
}

uint64_t profile_totals_sum(const struct profile_totals *totals)
{
	return totals->host + totals->guest_kernel + totals->guest_user + totals->unattributed +
	       totals->host_counted + totals->guest_counted + totals->lost + totals->filtered;
}

void profile_totals_add(struct profile_totals *totals, const struct profile_totals *more)
{
	totals->host += more->host;
	totals->guest_kernel += more->guest_kernel;
	totals->guest_user += more->guest_user;
	totals->unattributed += more->unattributed;
	totals->nested += more->nested;
	totals->at_exit += more->at_exit;
	totals->filtered += more->filtered;
	for (size_t i = 0; i < PERFDATA_CHAIN_ENDS; i++)
		totals->chain_ends[i] += more->chain_ends[i];
}

const char *profile_guest_comm(const struct profile *profile, const struct profile_row *row)
{
	if (row->guest_comm == PROFILE_HOST_COMM)
		return MACHINE_HOST_NAME;
	if (row->guest_comm == TIMELINE_NO_COMM)
		return "[unknown]";
	return intern_string(profile->session->strings, row->guest_comm);
}

/* What was taken but is not in the file. */
struct unwritten {
	uint64_t host, guest, lost;
};

static void add_counts(struct unwritten *unwritten, const struct perfdata_vm_counts *counts)
{
	unwritten->host += counts->host_dropped;
	unwritten->guest += counts->guest_dropped;
	unwritten->lost += counts->lost;
}

static uint64_t recorded_lost(const struct session *session, const struct filter *filter)
{
	uint64_t lost = 0;

	if (!filter || !filter->vms.count)
		return session->lost;
	for (size_t i = 1; i < session->machines.count; i++) {
		const struct machine *vm = session->machines.items[i];
		const uint64_t *count = map_find(&session->lost_by_vm, vm->pid);

		lost += count && filter_takes_vm(filter, vm) ? *count : 0;
	}
	return lost;
}

/* Of the VMs that FILTER takes; a recorder that was killed left no such counts. */
static struct unwritten count_unwritten(const struct session *session, const struct filter *filter)
{
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	struct unwritten unwritten = { 0 };
	uint64_t lost = recorded_lost(session, filter);

	for (size_t i = 0; inventory && i < inventory->vms.count; i++) {
		const struct perfdata_vm *vm = &inventory->vms.items[i];

		if (filter_takes_vm(filter, session_find_machine(session, vm->pid)))
			add_counts(&unwritten, &vm->counts);
	}
	if (inventory && filter_takes_vm(filter, NULL))
		add_counts(&unwritten, &inventory->other);
	/* Losses are in the stream and, if the recording ended properly, in the inventory. */
	if (unwritten.lost < lost)
		unwritten.lost = lost;
	return unwritten;
}

void profile_add_unwritten(struct profile *profile, const struct profile_options *options)
{
	const struct session *session = profile->session;
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	struct unwritten all = count_unwritten(session, NULL);
	struct unwritten taken = count_unwritten(session, options->filter);
	struct profile_totals *totals = &profile->totals;

	for (size_t i = 0; i < profile->event_count; i++) {
		totals->host_sampled |= !session->attrs[i]->exclude_host;
		totals->guest_sampled |= !session->attrs[i]->exclude_guest;
	}
	if (inventory) {
		totals->host_sampled = inventory->host_sampled;
		totals->guest_sampled = inventory->guest_sampled;
	}
	totals->host_counted = taken.host;
	totals->guest_counted = taken.guest;
	totals->lost = taken.lost;
	totals->filtered += all.host - taken.host + all.guest - taken.guest + all.lost - taken.lost;
}

bool profile_has_chains(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (session->attrs[i]->sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return false;
}

void profile_build_rows(struct profile *profile, const struct counter *counter)
{
	const struct profile_options *options = counter->shared->options;
	struct profile_counts counts = { .groups = &counter->shared->groups,
					 .cells = counter->cells,
					 .cell_count = counter->capacity,
					 .slices = counter->slices.items,
					 .slice_count = counter->slices.count,
					 .chains = counter->chains,
					 .functions = counter->shared->frames.functions,
					 .rows = !options->by_name,
					 .children = options->children,
					 .strays = counter->strays.items,
					 .stray_count = counter->strays.count,
					 .samples = counter->samples.items,
					 .sample_count = counter->samples.count };

	profile_rows_build(profile, options, &counts);
}

struct identities *profile_create_functions(struct profile *profile,
					    const struct profile_options *options)
{
	struct profile_keys keys = options->keys;

	if (!options->chains)
		return NULL;
	profile_keys_add(&keys, PROFILE_SYMBOL);
	return options->by_name ? identities_create_by_name(profile)
				: identities_create(profile, &keys);
}

void profile_sum_events(struct profile *profile, const struct counter *counter)
{
	for (size_t i = 0; i < profile->event_count; i++) {
		struct profile_event *event = &profile->events[i];
		struct left_out more = { 0 };

		if (counter->shared->options->absolute)
			more = counter->left_out[i];
		event->total_samples = event->samples + more.samples;
		event->total_period = event->period + more.period;
	}
}

static void count(struct profile *profile, const struct profile_options *options)
{
	struct session *session = profile->session;
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	struct counter_shared shared = { .session = session, .options = options,
					 .event_count = profile->event_count };
	struct identities *functions = profile_create_functions(profile, options);
	struct counter counter;

	shared.guest_chains = inventory && inventory->guest_chains;
	groups_init(&shared.groups, session);
	chain_frames_init(&shared.frames, session, functions);
	counter_init(&counter, &shared, profile->resolver);
	session_rewind(session);
	profile->damaged = !counting_run(&counter);
	counter_seal(&counter);
	resolver_seal(profile->resolver);
	profile->totals = counter.totals;
	profile_add_unwritten(profile, options);
	profile_build_rows(profile, &counter);
	profile_sum_events(profile, &counter);
	counter_deinit(&counter);
	chain_frames_deinit(&shared.frames);
	groups_deinit(&shared.groups);
	identities_destroy(functions);
}

struct profile *profile_create(struct session *session, const struct profile_options *options)
{
	struct profile *profile = memory_calloc(1, sizeof(*profile));

	profile->session = session;
	profile->texts = options->texts;
	profile->resolver = resolver_create(session);
	if (profile_keys_have(&options->keys, PROFILE_SOURCE))
		resolver_want_lines(profile->resolver);
	if (options->unnamed_alike)
		resolver_merge_unnamed(profile->resolver);
	profile->event_count = perfdata_reader_event_count(session->reader);
	profile->events = memory_calloc(profile->event_count, sizeof(*profile->events));
	for (size_t i = 0; i < profile->event_count; i++)
		profile->events[i].name = perfdata_reader_event(session->reader, i)->name;
	count(profile, options);
	return profile;
}

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < profile->event_count; i++) {
		vector_deinit(&profile->events[i].rows);
		vector_deinit(&profile->events[i].slices);
	}
	free(profile->events);
	calltree_destroy(profile->tree);
	vector_deinit(&profile->samples);
	resolver_destroy(profile->resolver);
	free(profile);
}
