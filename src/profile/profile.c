/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds a profile: counts the samples (counting.c), and turns the counts into rows and a call tree
 * (profile_rows.c).
 */
#include "profile/profile.h"

#include "base/memory.h"
#include "profile/calltree.h"
#include "profile/counting.h"
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
	       totals->host_counted + totals->guest_counted + totals->lost;
}

const char *profile_guest_comm(const struct profile *profile, const struct profile_row *row)
{
	if (row->guest_comm == PROFILE_HOST_COMM)
		return MACHINE_HOST_NAME;
	if (row->guest_comm == TIMELINE_NO_COMM)
		return "[unknown]";
	return intern_string(profile->session->strings, row->guest_comm);
}

static void add_counts(struct profile_totals *totals, const struct perfdata_vm_counts *counts)
{
	totals->host_counted += counts->host_dropped;
	totals->guest_counted += counts->guest_dropped;
}

/*
 * Samples that were taken but are not in the file. A recorder that was killed left no such counts.
 */
static void count_unwritten(struct profile *profile, const struct profile_options *options)
{
	struct session *session = profile->session;
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	struct profile_totals *totals = &profile->totals;
	uint64_t lost = 0, recorded_lost = options->vm_count ? 0 : session->lost;

	for (size_t i = 0; i < profile->event_count; i++) {
		totals->host_sampled |= !session->attrs[i]->exclude_host;
		totals->guest_sampled |= !session->attrs[i]->exclude_guest;
	}
	for (size_t i = 0; i < options->vm_count; i++) {
		const uint64_t *count = map_find(&session->lost_by_vm, options->vms[i]->pid);

		recorded_lost += count ? *count : 0;
	}
	if (inventory) {
		totals->host_sampled = inventory->host_sampled;
		totals->guest_sampled = inventory->guest_sampled;
		for (size_t i = 0; i < inventory->vms.count; i++) {
			const struct perfdata_vm *vm = &inventory->vms.items[i];

			if (!counter_wants_vm(options, session_find_machine(session, vm->pid)))
				continue;
			add_counts(totals, &vm->counts);
			lost += vm->counts.lost;
		}
		if (!options->vm_count) {
			add_counts(totals, &inventory->other);
			lost += inventory->other.lost;
		}
	}
	/* Losses are in the stream and, if the recording ended properly, in the inventory. */
	totals->lost = lost > recorded_lost ? lost : recorded_lost;
}

bool profile_has_chains(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (session->attrs[i]->sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return false;
}

static void build_rows(struct profile *profile, const struct counter *counter)
{
	const struct profile_options *options = counter->shared->options;
	struct profile_counts counts = { .groups = &counter->shared->groups,
					 .cells = counter->cells,
					 .cell_count = counter->capacity,
					 .chains = counter->chains,
					 .functions = counter->shared->frames.functions,
					 .rows = !options->by_name,
					 .children = options->children,
					 .strays = counter->strays.items,
					 .stray_count = counter->strays.count };

	profile_rows_build(profile, &options->keys, &counts);
}

/* Decides which functions of call chains are the same. */
static struct identities *create_functions(struct profile *profile,
					   const struct profile_options *options)
{
	struct profile_keys keys = options->keys;

	if (!options->chains)
		return NULL;
	profile_keys_add(&keys, PROFILE_SYMBOL);
	return options->by_name ? identities_create_by_name(profile)
				: identities_create(profile, &keys);
}

static void count(struct profile *profile, const struct profile_options *options)
{
	struct session *session = profile->session;
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);
	struct counter_shared shared = { .session = session, .options = options };
	struct identities *functions = create_functions(profile, options);
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
	count_unwritten(profile, options);
	build_rows(profile, &counter);
	counter_deinit(&counter);
	chain_frames_deinit(&shared.frames);
	groups_deinit(&shared.groups);
	identities_destroy(functions);
}

struct profile *profile_create(struct session *session, const struct profile_options *options)
{
	struct profile *profile = memory_calloc(1, sizeof(*profile));

	profile->session = session;
	profile->resolver = resolver_create(session);
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
	for (size_t i = 0; i < profile->event_count; i++)
		vector_deinit(&profile->events[i].rows);
	free(profile->events);
	calltree_destroy(profile->tree);
	resolver_destroy(profile->resolver);
	free(profile);
}
