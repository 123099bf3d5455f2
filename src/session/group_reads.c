/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values count from when the event was opened. If threads inherit the event, each thread has its
 * own values under the same id (since Linux 6.12;
 * perf_evsel__attr_has_per_thread_sample_period() of tools/lib/perf). A value that is lower than
 * the last one has started again from 0.
 */
#include "session/group_reads.h"

#include "session/session.h"

void group_reads_init(struct group_reads *reads)
{
	*reads = (struct group_reads){ 0 };
	map_init(&reads->totals);
}

void group_reads_deinit(struct group_reads *reads)
{
	map_deinit(&reads->totals);
}

bool group_reads_begin(struct group_reads *reads, const struct session_sample *sample)
{
	reads->open = sample->valid && sample->decoded.sample.read;
	if (!reads->open)
		return false;
	reads->sample = sample->decoded;
	reads->time = sample->time;
	reads->next = 0;
	return true;
}

static uint64_t key_of(const struct perf_event_attr *attr, const struct perfdata_sample *sample)
{
	if (!attr->inherit || !(attr->sample_type & PERF_SAMPLE_TID))
		return sample->id;
	return sample->id ^ hash_u64(sample->tid);
}

/* Replaces a total in SAMPLE by what was counted since the sample before. */
static void subtract_last(struct group_reads *reads, const struct perf_event_attr *attr,
			  struct perfdata_sample *sample)
{
	uint64_t *last = map_insert(&reads->totals, key_of(attr, sample), NULL);
	uint64_t total = sample->period;

	sample->period = total < *last ? total : total - *last;
	*last = total;
}

bool group_reads_next(struct group_reads *reads, struct perfdata_reader *reader,
		      struct session_sample *ret)
{
	while (reads->open &&
	       perfdata_reader_take_value(reader, &reads->sample, reads->next, &ret->decoded)) {
		const struct perf_event_attr *attr =
			&perfdata_reader_event(reader, ret->decoded.event_index)->attr;

		reads->next++;
		if (!ret->decoded.id)
			continue; /* of an unknown event */
		subtract_last(reads, attr, &ret->decoded.sample);
		if (!ret->decoded.sample.period)
			continue;
		ret->time = reads->time;
		ret->valid = true;
		return true;
	}
	reads->open = false;
	return false;
}
