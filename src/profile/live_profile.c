/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One counter, as for a recording that is read by one thread. Its cells are turned into rows at
 * each look, which takes a time that depends on what is counted, not on how many samples came.
 */
#include "profile/live_profile.h"

#include "base/memory.h"
#include "profile/calltree.h"
#include "profile/profile_private.h"

struct live_profile {
	struct profile_options options;
	struct profile profile;
	struct counter_shared shared;
	struct counter counter;
	struct identities *functions; /* NULL: without chains */
	uint64_t names_stamp;	      /* the session's, as of the last sample */
};

struct live_profile *live_profile_create(struct session *session,
					 const struct profile_options *options)
{
	struct live_profile *live = memory_calloc(1, sizeof(*live));
	struct profile *profile = &live->profile;

	live->options = *options;
	live->options.lone = true;
	live->names_stamp = session->names_stamp;
	profile->session = session;
	profile->resolver = resolver_create(session);
	if (profile_keys_have(&options->keys, PROFILE_SOURCE))
		resolver_want_lines(profile->resolver);
	profile->event_count = session->event_count;
	profile->events = memory_calloc(profile->event_count + 1, sizeof(*profile->events));
	live->functions = profile_create_functions(profile, &live->options);
	live->shared = (struct counter_shared){ .session = session, .options = &live->options,
						.event_count = profile->event_count };
	groups_init(&live->shared.groups, session);
	chain_frames_init(&live->shared.frames, session, live->functions);
	counter_init(&live->counter, &live->shared, profile->resolver);
	counter_begin_part(&live->counter, 0);
	return live;
}

static void clear(struct profile *profile)
{
	for (size_t i = 0; i < profile->event_count; i++)
		vector_deinit(&profile->events[i].rows);
	calltree_destroy(profile->tree);
	profile->tree = NULL;
}

void live_profile_destroy(struct live_profile *live)
{
	if (!live)
		return;
	counter_deinit(&live->counter);
	chain_frames_deinit(&live->shared.frames);
	groups_deinit(&live->shared.groups);
	identities_destroy(live->functions);
	clear(&live->profile);
	free(live->profile.events);
	resolver_destroy(live->profile.resolver);
	free(live);
}

bool live_profile_fits(const struct live_profile *live)
{
	return live->profile.event_count == live->profile.session->event_count;
}

void live_profile_settle(struct live_profile *live)
{
	counter_end_part(&live->counter);
}

void live_profile_count(struct live_profile *live, const struct session_sample *sample)
{
	struct session *session = live->profile.session;

	if (live->names_stamp != session->names_stamp) {
		live_profile_settle(live);
		resolver_look_again(live->profile.resolver);
		live->names_stamp = session->names_stamp;
	}
	counter_count(&live->counter, sample);
}

struct profile_totals live_profile_totals(struct live_profile *live)
{
	live_profile_settle(live);
	live->profile.totals = live->counter.totals;
	profile_add_unwritten(&live->profile, &live->options);
	return live->profile.totals;
}

struct profile_totals live_profile_counted(struct live_profile *live)
{
	live_profile_settle(live);
	return live->counter.totals;
}

const struct profile *live_profile_look(struct live_profile *live)
{
	struct profile *profile = &live->profile;
	struct session *session = profile->session;
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);

	live_profile_totals(live);
	clear(profile);
	for (size_t i = 0; i < profile->event_count; i++)
		profile->events[i] = (struct profile_event){
			.name = perfdata_reader_event(session->reader, i)->name };
	live->shared.guest_chains = inventory && inventory->guest_chains;
	profile_build_rows(profile, &live->counter);
	profile_sum_events(profile, &live->counter);
	return profile;
}

/* Chains end where their samples were taken, from then on. */
static void settle_strays(struct counter *counter)
{
	for (size_t i = 0; i < counter->strays.count; i++)
		chains_take_back(counter->chains, counter->strays.items[i].cell,
				 counter->strays.items[i].period);
	counter->strays.count = 0;
}

/* What comes to nothing is forgotten. */
static void decay_cells(struct counter *counter, unsigned eighths)
{
	_cleanup_free_ struct profile_cell *old = counter->cells;
	size_t old_capacity = counter->capacity;

	counter->count = 0;
	counter->capacity = COUNTER_FIRST_CAPACITY;
	counter->cells = memory_calloc(counter->capacity, sizeof(*counter->cells));
	for (size_t i = 0; i < old_capacity; i++) {
		uint64_t period = old[i].period * eighths / 8;
		uint64_t count = old[i].count * eighths / 8;

		if (period)
			counter_add(counter, old[i].key, period, count ? count : 1);
	}
}

void live_profile_decay(struct live_profile *live, unsigned eighths)
{
	live_profile_settle(live);
	if (live->counter.chains) {
		settle_strays(&live->counter);
		chains_decay(live->counter.chains, eighths);
	}
	decay_cells(&live->counter, eighths);
}

size_t live_profile_size(const struct live_profile *live)
{
	size_t size = resolver_count(live->profile.resolver) +
		      intern_count(live->shared.groups.numbers);

	return size + (live->counter.chains ? chains_size(live->counter.chains) : 0);
}
