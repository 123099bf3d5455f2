/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop over the samples only handles two numbers: the group (event, VM, vCPU, comm, pid,
 * cpumode, as far as they are keys), which is remembered with the thread, and the location. A hash
 * table counts by this pair; a sample whose call chain is counted is in the chains instead. Things
 * that look the same to a reader (a function of a library that two processes mapped from different
 * paths) become one row later, in profile_rows.c.
 */
#include "profile/counter.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "profile/counter_moment.h"

#define TEXT_BYTES_MAX ((size_t)1 << 20) /* what does not fit is left out */

/* The guest's name for CONTEXT's thread. */
static uint32_t guest_comm(const struct context *context)
{
	if (!cpumode_is_guest(context->cpumode))
		return PROFILE_HOST_COMM;
	return context->process ? context->final_comm : TIMELINE_NO_COMM;
}

/* The group for CONTEXT's samples of EVENT. */
static struct profile_group group_of(const struct profile_keys *keys,
				     const struct context *context, size_t event)
{
	struct profile_group group = { .event = event, .comm = TIMELINE_NO_COMM,
				       .vcpu = PERFDATA_NO_VCPU };

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
	if (profile_keys_have(keys, PROFILE_TID))
		group.tid = context->tid;
	return group;
}

/* Sets the numbers of the groups for CONTEXT's samples of EVENT, never 0, and for their chains. */
static void find_groups(struct counter *counter, struct context *context, size_t event)
{
	struct counter_shared *shared = counter->shared;
	struct profile_group group = group_of(&shared->options->keys, context, event);

	context->row = groups_find(&shared->groups, &group, counter->now++);
	if (!counter->chains)
		return;
	group.cpumode = 0; /* a chain has several levels */
	context->chain_row = groups_find(&shared->groups, &group, counter->now++);
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

struct profile_cell *counter_add(struct counter *counter, uint64_t key, uint64_t period,
				 uint64_t count)
{
	struct profile_cell *cell = cell_of(counter, key);

	cell->period += period;
	cell->count += count;
	if (cell->key)
		return cell;
	cell->key = key;
	if (2 * ++counter->count <= counter->capacity)
		return cell;
	grow(counter);
	return cell_of(counter, key);
}

/* Mostly, a cell's samples of one quantum follow each other. */
static void count_slice(struct counter *counter, struct profile_cell *cell, uint64_t time_ns,
			uint64_t period)
{
	if (!cell->slice || counter->slices.items[cell->slice - 1].time_ns != time_ns) {
		vector_append(&counter->slices, (struct profile_cell_slice){ .cell = cell->key,
									     .time_ns = time_ns });
		cell->slice = counter->slices.count;
	}
	counter->slices.items[cell->slice - 1].period += period;
	counter->slices.items[cell->slice - 1].count++;
}

/* With S (PERF_SAMPLE_READ), the recorder takes no chains of guests. */
static bool has_guest_chain(const struct counter_shared *shared,
			    const struct session_sample *sample)
{
	const struct perf_event_attr *attr = shared->session->attrs[sample->decoded.event_index];

	return shared->guest_chains && !(attr->sample_type & PERF_SAMPLE_READ);
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

/* Counts a sample whose chain ends elsewhere than where it was taken (the location in the key). */
static void count_stray(struct counter *counter, const struct counter_pending *pending,
			uint32_t cell)
{
	vector_append(&counter->strays,
		      (struct profile_stray){ .group = pending->group,
					      .location = (uint32_t)pending->key,
					      .cell = cell,
					      .period = pending->period });
}

/* Counts the sample in the call tree; false: that does not determine the location. */
static bool count_chain(struct counter *counter, const struct counter_pending *pending)
{
	bool full;
	uint32_t cell = chains_count(counter->chains, &pending->end, &full);

	if (counter->shared->options->samples)
		vector_append(&counter->samples,
			      (struct profile_moment){ .time_ns = pending->end.time,
						       .period = pending->period,
						       .cell = cell,
						       .cpumode = pending->cpumode });
	if (pending->end.own && !full)
		return true;
	count_stray(counter, pending, cell);
	return false;
}

/* Prefetches what counting reads. */
static void locate_pending(struct counter *counter, struct counter_pending *pending)
{
	struct resolved resolved =
		resolver_finish(counter->resolver, &pending->lookup);

	pending->key = (uint64_t)pending->group << 32 | resolved.location;
	if (counter->chains && pending->end.own)
		chains_end_at(counter->chains, &pending->end, &pending->lookup, &resolved);
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

static void count_pending(struct counter *counter, const struct counter_pending *pending)
{
	struct profile_cell *cell;

	if (counter->chains && count_chain(counter, pending))
		return;
	cell = counter_add(counter, pending->key, pending->period, 1);
	if (counter->shared->options->times_apart)
		count_slice(counter, cell, pending->quantum_ns, pending->period);
}

static void begin_lookup(struct counter *counter, struct counter_pending *pending)
{
	resolver_begin(counter->resolver, pending->machine, pending->space, pending->ip,
		       pending->time, &pending->lookup);
}

static void count_batch(struct counter *counter)
{
	for (size_t i = 0; i < counter->pending_count; i++)
		begin_lookup(counter, &counter->pending[i]);
	if (counter->chains)
		find_callers(counter);
	for (size_t i = 0; i < counter->pending_count; i++)
		locate_pending(counter, &counter->pending[i]);
	for (size_t i = 0; counter->chains && i < counter->pending_count; i++)
		chains_locate(counter->chains, &counter->pending[i].end);
	for (size_t i = 0; i < counter->pending_count; i++)
		count_pending(counter, &counter->pending[i]);
	if (counter->chains)
		chains_end_batch(counter->chains);
	counter->pending_count = 0;
}

static bool passes_filter(struct counter *counter, const struct session_sample *sample,
			  struct context *context)
{
	struct left_out *left_out = &counter->left_out[sample->decoded.event_index];
	enum filter_verdict verdict = filtering_judge(
		&counter->filtering, counter->shared->session, sample, context);

	if (verdict == FILTER_TAKES)
		return true;
	counter->totals.filtered++;
	if (verdict == FILTER_LEAVES_OUT) {
		left_out->samples++;
		left_out->period += sample->decoded.sample.period;
	}
	return false;
}

/* The chain of SAMPLE, with its program's part. */
static void begin_chain(struct counter *counter, const struct session_sample *sample,
			const struct context *context, uint32_t chain_row, struct chains_end *ret)
{
	struct session_sample completed;

	if (counter->user_chains) {
		completed = *sample;
		user_chains_complete(counter->user_chains, context, &completed);
		sample = &completed;
	}
	chains_begin(counter->chains, sample, context, chain_row, ret);
}

void counter_count(struct counter *counter, const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct counter_pending *pending = &counter->pending[counter->pending_count];
	struct context *context;
	uint32_t chain_row;

	if (!sample->valid) {
		*(counter->filters ? &counter->totals.filtered
				   : &counter->totals.unattributed) += 1;
		return;
	}
	context = context_find(counter->contexts, sample);
	if (counter->filters && !passes_filter(counter, sample, context))
		return;
	if (!context->row)
		find_groups(counter, context, sample->decoded.event_index);
	pending->group = context->row;
	chain_row = context->chain_row;
	if (counter->moments) {
		const uint32_t *groups = counter_find_moment(counter, sample, context);

		pending->group = groups[0];
		chain_row = groups[1];
	}
	if (counter->shared->options->times_apart)
		pending->quantum_ns = counter_quantum_of(counter, fields->time_ns);
	pending->period = fields->period;
	pending->cpumode = context->cpumode;
	pending->machine = context->machine;
	pending->space = context->space;
	pending->ip = fields->ip;
	pending->time = sample->time;
	if (context->machine)
		resolver_prefetch(counter->resolver, context->space, fields->ip);
	count_total(&counter->totals, context, has_guest_chain(counter->shared, sample));
	if (counter->chains)
		begin_chain(counter, sample, context, chain_row, &pending->end);
	if (++counter->pending_count == COUNTER_BATCH)
		count_batch(counter);
}

void counter_init(struct counter *counter, struct counter_shared *shared,
		  struct resolver *resolver)
{
	*counter = (struct counter){ .shared = shared, .resolver = resolver,
				     .capacity = COUNTER_FIRST_CAPACITY };
	counter->contexts = memory_alloc(sizeof(*counter->contexts));
	context_cache_init(counter->contexts, shared->session);
	counter->cells = memory_calloc(counter->capacity, sizeof(*counter->cells));
	counter->filters = shared->options->filter && shared->options->filter->any;
	filtering_init(&counter->filtering, shared->options->filter, resolver);
	counter->left_out = memory_calloc(shared->event_count + 1, sizeof(*counter->left_out));
	counter->by_time = profile_keys_have(&shared->options->keys, PROFILE_TIME) &&
			   !shared->options->times_apart;
	counter->by_cpu = profile_keys_have(&shared->options->keys, PROFILE_CPU);
	if (counter->by_time || counter->by_cpu || shared->options->texts)
		counter->moments = memory_calloc(COUNTER_MOMENTS, sizeof(*counter->moments));
	buffer_init(&counter->text, TEXT_BYTES_MAX);
	if (!shared->options->chains)
		return;
	counter->user_chains = user_chains_create(shared->session);
	counter->chains = chains_create(shared->session, resolver, &shared->frames,
					shared->options->lone);
	if (shared->options->inlined)
		chains_want_inlined(counter->chains);
	if (shared->options->max_stack)
		chains_limit(counter->chains, shared->options->max_stack);
}

void counter_deinit(struct counter *counter)
{
	chains_destroy(counter->chains);
	user_chains_destroy(counter->user_chains);
	vector_deinit(&counter->strays);
	vector_deinit(&counter->samples);
	vector_deinit(&counter->slices);
	filtering_deinit(&counter->filtering);
	free(counter->left_out);
	free(counter->moments);
	buffer_deinit(&counter->text);
	free(counter->cells);
	free(counter->contexts);
}

void counter_begin_part(struct counter *counter, uint32_t number)
{
	counter->now = (uint64_t)number << 32;
	if (counter->chains)
		chains_begin_part(counter->chains, number);
}

void counter_end_part(struct counter *counter)
{
	count_batch(counter);
}

void counter_merge(struct counter *counter, const struct counter *other)
{
	_cleanup_free_ uint32_t *numbers = NULL;

	if (counter->chains)
		numbers = chains_merge(counter->chains, other->chains);
	for (size_t i = 0; i < other->capacity; i++)
		if (other->cells[i].key)
			counter_add(counter, other->cells[i].key, other->cells[i].period,
				    other->cells[i].count);
	for (size_t i = 0; i < other->strays.count; i++) {
		struct profile_stray stray = other->strays.items[i];

		stray.cell = numbers[stray.cell];
		vector_append(&counter->strays, stray);
	}
	for (size_t i = 0; i < other->samples.count; i++) {
		struct profile_moment sample = other->samples.items[i];

		sample.cell = numbers[sample.cell];
		vector_append(&counter->samples, sample);
	}
	for (size_t i = 0; i < other->slices.count; i++)
		vector_append(&counter->slices, other->slices.items[i]);
	for (size_t i = 0; i < counter->shared->event_count; i++) {
		counter->left_out[i].samples += other->left_out[i].samples;
		counter->left_out[i].period += other->left_out[i].period;
	}
	profile_totals_add(&counter->totals, &other->totals);
}

void counter_seal(struct counter *counter)
{
	_cleanup_free_ uint32_t *groups = groups_order(&counter->shared->groups), *frames = NULL;

	for (size_t i = 0; i < counter->slices.count; i++)
		counter->slices.items[i].cell =
			cell_of(counter, counter->slices.items[i].cell) - counter->cells;
	/* The cells are placed by the old numbers, but will not be looked up any more. */
	for (size_t i = 0; i < counter->capacity; i++)
		if (counter->cells[i].key)
			counter->cells[i].key = (uint64_t)groups[counter->cells[i].key >> 32]
							<< 32 |
						(uint32_t)counter->cells[i].key;
	for (size_t i = 0; i < counter->strays.count; i++)
		counter->strays.items[i].group = groups[counter->strays.items[i].group];
	if (!counter->chains)
		return;
	frames = chain_frames_order(&counter->shared->frames);
	chains_seal(counter->chains);
	chains_renumber(counter->chains, groups, frames);
}
