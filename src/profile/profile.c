/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts samples. In the loop over the samples there are two numbers only: the group (event,
 * VM, vCPU, comm, pid, cpumode, as far as they are keys), which is remembered with the
 * thread, and the location. A hash table counts by the pair; a sample whose call chain is
 * counted is in the call tree instead. What is the same to a reader
 * (a function of a library that two processes mapped from different paths) becomes one row
 * afterwards, in profile_rows.c.
 */
#include "profile/profile.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/memory.h"
#include "profile/calltree.h"
#include "profile/chains.h"
#include "profile/context.h"
#include "profile/identity.h"
#include "profile/profile_rows.h"

#define GROUP_SKIP UINT32_MAX /* of a context whose samples are not wanted */

#define BATCH 32

struct pending {
	struct lookup lookup;
	uint64_t key, period;
	uint32_t group;
	struct chains_end end; /* of its call chain, if chains are counted */
};

struct counter {
	struct session *session;
	const struct profile_options *options;
	struct profile *profile;
	struct context_cache *contexts;
	struct intern *groups; /* struct profile_group as bytes */
	struct profile_cell *cells;
	size_t capacity, count; /* capacity is a power of two */
	struct pending pending[BATCH]; /* samples whose address is not looked up yet */
	size_t pending_count;
	bool guest_chains; /* guest samples have chains with an end each */
	struct chains *chains; /* NULL: not asked for */
	struct identities *functions; /* its frames' */
	VECTOR(uint32_t) chain_groups; /* of a group, the one without a cpumode; 0: not known yet */
	VECTOR(struct profile_stray) strays;
};

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

static bool wants_vm(const struct profile_options *options, const struct machine *vm)
{
	if (!options->vm_count)
		return true;
	for (size_t i = 0; i < options->vm_count; i++)
		if (options->vms[i] == vm)
			return true;
	return false;
}

/* What the guest calls the thread that CONTEXT is of. */
static uint32_t guest_comm(const struct context *context)
{
	if (!cpumode_is_guest(context->cpumode))
		return PROFILE_HOST_COMM;
	return context->process ? context->final_comm : TIMELINE_NO_COMM;
}

/* The number of the group of CONTEXT's samples of EVENT; never 0. */
static uint32_t find_group(struct counter *counter, const struct context *context, size_t event)
{
	const struct profile_keys *keys = &counter->options->keys;
	struct profile_group group;

	if (!wants_vm(counter->options, context->vm))
		return GROUP_SKIP;
	memset(&group, 0, sizeof(group)); /* compared as bytes, padding included */
	group.event = event;
	group.comm = TIMELINE_NO_COMM;
	group.vcpu = PERFDATA_NO_VCPU;
	if (profile_keys_have(keys, PROFILE_VM))
		group.vm = context->vm;
	if (profile_keys_have(keys, PROFILE_VCPU))
		group.vcpu = context->vcpu;
	if (profile_keys_have(keys, PROFILE_PID))
		group.pid = context->pid;
	if (profile_keys_have(keys, PROFILE_GUEST_COMM))
		group.guest_comm = guest_comm(context);
	if (profile_keys_have(keys, PROFILE_GUEST_PID))
		group.guest_pid = context->process ? context->pid : PROFILE_NO_PID;
	if (profile_keys_have(keys, PROFILE_MODE) || profile_keys_have(keys, PROFILE_SYMBOL))
		group.cpumode = context->cpumode;
	if (profile_keys_have(keys, PROFILE_COMM)) {
		group.comm = context->final_comm;
		if (group.comm == TIMELINE_NO_COMM)
			group.tid = context->tid;
	}
	return intern_bytes(counter->groups, (const char *)&group, sizeof(group));
}

static struct profile_cell *cell_of(const struct counter *counter, uint64_t key)
{
	size_t mask = counter->capacity - 1;
	size_t at = hash_u64(key) & mask;

	while (counter->cells[at].key && counter->cells[at].key != key)
		at = (at + 1) & mask;
	return &counter->cells[at];
}

static void grow(struct counter *counter)
{
	struct profile_cell *old = counter->cells;
	size_t old_capacity = counter->capacity;

	counter->capacity *= 2;
	counter->cells = memory_calloc_table(counter->capacity, sizeof(*counter->cells));
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i].key)
			*cell_of(counter, old[i].key) = old[i];
	free(old);
}

static void count_cell(struct counter *counter, uint64_t key, uint64_t period)
{
	struct profile_cell *cell = cell_of(counter, key);

	cell->period += period;
	cell->count++;
	if (cell->key)
		return;
	cell->key = key;
	if (2 * ++counter->count > counter->capacity)
		grow(counter);
}

static void count_total(struct profile_totals *totals, const struct context *context,
			bool guest_chains)
{
	bool guest = context->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
		     context->cpumode == PERF_RECORD_MISC_GUEST_USER;

	if (guest && guest_chains)
		totals->chain_ends[perfdata_special_chain_end(context->special)]++;
	totals->nested += (context->special & PERFDATA_NESTED) != 0;
	totals->at_exit += (context->special & PERFDATA_AT_EXIT) != 0;
	switch (context->cpumode) {
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_HYPERVISOR:
		totals->host++;
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		totals->guest_kernel++;
		break;
	case PERF_RECORD_MISC_GUEST_USER:
		totals->guest_user++;
		break;
	default:
		totals->unattributed++;
	}
}

/* Of samples whose chain ends elsewhere than at the location in the key, where they were taken. */
static void count_stray(struct counter *counter, const struct pending *pending, uint32_t cell)
{
	vector_append(&counter->strays,
		      (struct profile_stray){ .group = pending->group,
					      .location = (uint32_t)pending->key,
					      .cell = cell,
					      .period = pending->period });
}

/* Counts for its place in the call tree; false: that does not tell the location. */
static bool count_chain(struct counter *counter, const struct pending *pending)
{
	bool full;
	uint32_t cell = chains_count(counter->chains, &pending->end, &full);

	if (pending->end.own && !full)
		return true;
	count_stray(counter, pending, cell);
	return false;
}

/* Fetches into the cache what counting reads. */
static void locate_pending(struct counter *counter, struct pending *pending)
{
	struct resolved resolved =
		resolver_finish(counter->profile->resolver, &pending->lookup);

	pending->key = (uint64_t)pending->group << 32 | resolved.location;
	if (counter->chains && pending->end.own)
		chains_end_at(counter->chains, &pending->end, &resolved);
	else
		__builtin_prefetch(&counter->cells[hash_u64(pending->key) &
						   (counter->capacity - 1)]);
}

/* Looks up the callers of the batch, step by step. */
static void find_callers(struct counter *counter)
{
	for (size_t i = 0; i < counter->pending_count; i++)
		chains_fetch(counter->chains, &counter->pending[i].end);
	for (size_t i = 0; i < counter->pending_count; i++)
		chains_find_callers(counter->chains, &counter->pending[i].end);
}

static void count_batch(struct counter *counter)
{
	if (counter->chains)
		find_callers(counter);
	for (size_t i = 0; i < counter->pending_count; i++)
		locate_pending(counter, &counter->pending[i]);
	for (size_t i = 0; counter->chains && i < counter->pending_count; i++)
		chains_locate(counter->chains, &counter->pending[i].end);
	for (size_t i = 0; i < counter->pending_count; i++) {
		struct pending *pending = &counter->pending[i];

		if (!counter->chains || !count_chain(counter, pending))
			count_cell(counter, pending->key, pending->period);
	}
	if (counter->chains)
		chains_end_batch(counter->chains);
	counter->pending_count = 0;
}

/* A chain goes through several levels: its group has none. */
static uint32_t chain_group(struct counter *counter, uint32_t number)
{
	struct profile_group group;

	while (counter->chain_groups.count <= number)
		vector_append(&counter->chain_groups, 0);
	if (!counter->chain_groups.items[number]) {
		memcpy(&group, intern_string(counter->groups, number), sizeof(group));
		group.cpumode = 0;
		counter->chain_groups.items[number] =
			intern_bytes(counter->groups, (const char *)&group, sizeof(group));
	}
	return counter->chain_groups.items[number];
}

static void count_sample(struct counter *counter, const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct context *context = context_find(counter->contexts, sample);
	struct pending *pending = &counter->pending[counter->pending_count];

	if (!context->row)
		context->row = find_group(counter, context, sample->decoded.event_index);
	if (context->row == GROUP_SKIP)
		return;
	pending->group = context->row;
	pending->period = fields->period;
	resolver_begin(counter->profile->resolver, context->machine, context->space, fields->ip,
		       sample->time, &pending->lookup);
	count_total(&counter->profile->totals, context, counter->guest_chains);
	if (counter->chains)
		chains_begin(counter->chains, sample, context, chain_group(counter, context->row),
			     &pending->end);
	if (++counter->pending_count == BATCH)
		count_batch(counter);
}

static void count_all(struct counter *counter)
{
	struct session_sample sample;
	enum perfdata_status status;

	while ((status = session_next_plain(counter->session, &sample)) == PERFDATA_RECORD) {
		if (sample.valid)
			count_sample(counter, &sample);
		else if (!counter->options->vm_count)
			counter->profile->totals.unattributed++;
	}
	count_batch(counter);
	counter->profile->damaged = status == PERFDATA_BAD;
}

static void add_counts(struct profile_totals *totals, const struct perfdata_vm_counts *counts)
{
	totals->host_counted += counts->host_dropped;
	totals->guest_counted += counts->guest_dropped;
}

/* What was taken but is not in the file; a recorder that was killed left no such counts. */
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

			if (!wants_vm(options, session_find_machine(session, vm->pid)))
				continue;
			add_counts(totals, &vm->counts);
			lost += vm->counts.lost;
		}
		if (!options->vm_count) {
			add_counts(totals, &inventory->other);
			lost += inventory->other.lost;
		}
	}
	/* Losses stand in the stream and, when the recording ended well, in the inventory. */
	totals->lost = lost > recorded_lost ? lost : recorded_lost;
}

bool profile_has_chains(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (session->attrs[i]->sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return false;
}

static void build_rows(const struct counter *counter)
{
	struct profile_counts counts = { .groups = counter->groups,
					 .cells = counter->cells,
					 .cell_count = counter->capacity,
					 .chains = counter->chains,
					 .functions = counter->functions,
					 .rows = !counter->options->by_name,
					 .children = counter->options->children,
					 .strays = counter->strays.items,
					 .stray_count = counter->strays.count };

	profile_rows_build(counter->profile, &counter->options->keys, &counts);
}

static void start_chains(struct counter *counter)
{
	struct profile_keys keys = counter->options->keys;

	profile_keys_add(&keys, PROFILE_SYMBOL);
	counter->functions = counter->options->by_name
				     ? identities_create_by_name(counter->profile)
				     : identities_create(counter->profile, &keys);
	counter->chains = chains_create(counter->session, counter->profile->resolver,
					counter->functions, counter->options->lone);
}

struct profile *profile_create(struct session *session, const struct profile_options *options)
{
	struct profile *profile = memory_calloc(1, sizeof(*profile));
	struct counter counter = { .session = session, .options = options, .profile = profile,
				   .capacity = 4096 };
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(session->reader);

	counter.guest_chains = inventory && inventory->guest_chains;
	profile->session = session;
	profile->resolver = resolver_create(session);
	profile->event_count = perfdata_reader_event_count(session->reader);
	profile->events = memory_calloc(profile->event_count, sizeof(*profile->events));
	for (size_t i = 0; i < profile->event_count; i++)
		profile->events[i].name = perfdata_reader_event(session->reader, i)->name;
	counter.groups = intern_create();
	counter.contexts = memory_alloc(sizeof(*counter.contexts));
	context_cache_init(counter.contexts, session);
	counter.cells = memory_calloc(counter.capacity, sizeof(*counter.cells));
	if (options->chains)
		start_chains(&counter);
	session_rewind(session);
	perfdata_reader_keep_nothing(session->reader);
	count_all(&counter);
	resolver_seal(profile->resolver);
	if (counter.chains)
		chains_seal(counter.chains);
	count_unwritten(profile, options);
	build_rows(&counter);
	chains_destroy(counter.chains);
	identities_destroy(counter.functions);
	vector_deinit(&counter.chain_groups);
	vector_deinit(&counter.strays);
	free(counter.cells);
	free(counter.contexts);
	intern_destroy(counter.groups);
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
