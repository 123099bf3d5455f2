/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of events in the file, as perf writes them: if their values are read, the events after the
 * leader take no samples, and have the fields of its samples
 * (evsel__config_leader_sampling() in tools/perf/util/record.c).
 *
 * Readers take what an event has counted in a sample as the difference to the value that it had at
 * the last sample with the same id (deliver_sample_value() in tools/perf/util/session.c). Here a
 * vCPU has several ids for an event, one for each kind of sample. So the value in the file is not
 * the counter's, but the sum of what was counted in samples of that id.
 */
#include "host/record/recorder_state.h"

static void describe(const struct host_event *event, int clock_id, struct perfdata_event *ret)
{
	*ret = (struct perfdata_event){ .attr = event->attr,
					.name = event->name,
					.group_rank = event->group_rank,
					.group_size = event->group_size,
					.group_name = event->group_name };
	ret->attr.sample_id_all = 1;
	ret->attr.clockid = clock_id;
	ret->attr.read_format = PERF_FORMAT_ID; /* older perf does not know _LOST */
	if (!event->values_read)
		return;
	ret->attr.read_format |= PERF_FORMAT_GROUP;
	ret->attr.sample_type = event[-(ptrdiff_t)event->group_rank].attr.sample_type;
}

void recorder_describe_events(const struct recorder *recorder, struct perfdata_event *ret)
{
	for (size_t i = 0; i < recorder->config.event_count; i++)
		describe(&recorder->config.events[i], recorder->config.clock_id, &ret[i]);
}

/* struct read_format of include/uapi/linux/perf_event.h: the count, then values with their ids. */
bool recorder_put_values(struct recorder *recorder, struct recorder_thread *thread, size_t event,
			 enum recorder_kind kind, enum perfdata_chain_end chain_end,
			 const uint64_t *counts, struct perfdata_sample *sample)
{
	size_t size = recorder->config.events[event].group_size;
	size_t ids = recorder->config.event_count * RECORDER_IDS;

	if (!counts)
		return true;
	size = size ? size : 1;
	if (!thread->totals)
		thread->totals = memory_calloc(ids, sizeof(*thread->totals));
	buffer_clear(&recorder->values);
	buffer_append_u64(&recorder->values, size);
	for (size_t i = 0; i < size; i++) {
		uint64_t id = recorder_id(recorder, thread, event + i, kind, chain_end);
		uint64_t *total = &thread->totals[(event + i) * RECORDER_IDS +
						  kind * PERFDATA_CHAIN_ENDS + chain_end];

		if (!id)
			return false;
		*total += counts[i];
		buffer_append_u64(&recorder->values, *total);
		buffer_append_u64(&recorder->values, id);
	}
	sample->read = recorder->values.data;
	sample->read_bytes = recorder->values.size;
	return true;
}
