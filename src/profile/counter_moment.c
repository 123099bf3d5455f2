/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups by what differs from sample to sample: time, CPU and texts. Neighbours mostly agree, so
 * the groups of the last ones are cached.
 */
#include "profile/counter_moment.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>

#define DEFAULT_QUANTUM_NS 100000000ULL /* perf's */

uint64_t counter_quantum_of(struct counter *counter, uint64_t time_ns)
{
	const struct profile_options *options = counter->shared->options;
	uint64_t quantum_ns =
		options->time_quantum_ns ? options->time_quantum_ns : DEFAULT_QUANTUM_NS;

	if (time_ns - counter->quantum_ns < quantum_ns) /* mostly that of the sample before */
		return counter->quantum_ns;
	counter->quantum_ns = time_ns - time_ns % quantum_ns;
	return counter->quantum_ns;
}

static uint32_t cpu_of(const struct counter *counter, const struct session_sample *sample)
{
	const struct perf_event_attr *attr;

	if (!counter->by_cpu)
		return 0;
	attr = counter->shared->session->attrs[sample->decoded.event_index];
	return attr->sample_type & PERF_SAMPLE_CPU ? sample->decoded.sample.cpu : PROFILE_NO_CPU;
}

static uint32_t group_at_moment(struct counter *counter, uint32_t number,
				const struct counter_moment *moment)
{
	struct groups *groups = &counter->shared->groups;
	struct profile_group group;

	if (!number)
		return 0;
	pthread_mutex_lock(&counter->shared->session->lock);
	group = groups_get(groups, number);
	pthread_mutex_unlock(&counter->shared->session->lock);
	group.time_ns = moment->time_ns;
	group.cpu = moment->cpu;
	memcpy(group.texts, moment->texts, sizeof(group.texts));
	return groups_find(groups, &group, counter->now++);
}

/* The numbers of SAMPLE's texts as far as they are keys; those are all that there are. */
static void find_texts(struct counter *counter, const struct session_sample *sample,
		       uint32_t *ret_numbers)
{
	struct session *session = counter->shared->session;
	const struct profile_texts *texts = counter->shared->options->texts;

	if (!texts)
		return;
	pthread_mutex_lock(&session->lock);
	for (size_t i = 0; i < texts->count; i++) {
		buffer_clear(&counter->text);
		texts->append(texts->data, i, sample, &counter->text);
		if (counter->text.size)
			ret_numbers[i] = intern_bytes(session->strings,
						      (const char *)counter->text.data,
						      counter->text.size);
	}
	pthread_mutex_unlock(&session->lock);
}

static uint64_t hash_moment(const struct counter_moment *moment)
{
	uint64_t hash = hash_u64(moment->time_ns ^ (uint64_t)moment->row << 32 ^ moment->cpu);

	for (size_t i = 0; i < PROFILE_TEXTS && moment->texts[i]; i++)
		hash = hash_u64(hash ^ moment->texts[i]);
	return hash;
}

const uint32_t *counter_find_moment(struct counter *counter, const struct session_sample *sample,
				    const struct context *context)
{
	struct counter_moment wanted = {
		.row = context->row,
		.chain_row = context->chain_row,
		.cpu = cpu_of(counter, sample),
		.time_ns = counter->by_time
				   ? counter_quantum_of(counter, sample->decoded.sample.time_ns)
				   : 0,
	};
	struct counter_moment *moment;

	find_texts(counter, sample, wanted.texts);
	moment = &counter->moments[hash_moment(&wanted) % COUNTER_MOMENTS];
	if (moment->row == wanted.row && moment->chain_row == wanted.chain_row &&
	    moment->cpu == wanted.cpu && moment->time_ns == wanted.time_ns &&
	    !memcmp(moment->texts, wanted.texts, sizeof(wanted.texts)))
		return moment->groups;
	*moment = wanted;
	moment->groups[0] = group_at_moment(counter, wanted.row, &wanted);
	moment->groups[1] = group_at_moment(counter, wanted.chain_row, &wanted);
	return moment->groups;
}
