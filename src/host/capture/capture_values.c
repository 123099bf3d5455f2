/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of counters: those that read(2) returns, and those of a group in the samples of its leader
 * (PERF_SAMPLE_READ). The layout is struct read_format of include/uapi/linux/perf_event.h, here
 *
 *	single: value, id, [lost]
 *	group:  count, count times: value, id, [lost]
 *
 * Values only grow; what an event has counted since the sample before is the difference.
 */
#include <string.h>
#include <unistd.h>

#include "host/capture/capture_engine.h"

bool capture_slot_read(struct capture *capture, const struct capture_slot *slot, size_t event,
		       uint64_t *ret_value, uint64_t *ret_lost)
{
	uint64_t format = capture->config.events[event].attr.read_format;
	size_t first = format & PERF_FORMAT_GROUP ? 1 : 0;
	size_t words = first + 2 + !!(format & PERF_FORMAT_LOST);
	ssize_t bytes = read(slot->counters[event].fd, capture->values,
			     CAPTURE_VALUES(capture->config.event_count) * sizeof(uint64_t));

	if (bytes < (ssize_t)(words * sizeof(uint64_t)))
		return false;
	*ret_value = capture->values[first];
	*ret_lost = format & PERF_FORMAT_LOST ? capture->values[first + 2] : 0;
	return true;
}

/* The place of event ID in the group of LEADER; SIZE_MAX: none. */
static size_t find_member(const struct capture_slot *slot, size_t leader, size_t size, uint64_t id)
{
	for (size_t i = 0; i < size; i++)
		if (slot->counters[leader + i].id == id)
			return i;
	return SIZE_MAX;
}

const uint64_t *capture_slot_take_counts(struct capture *capture, struct capture_slot *slot,
					 size_t event, const struct perfdata_sample *sample)
{
	const struct host_event *leader = &capture->config.events[event];
	size_t size = leader->group_size ? leader->group_size : 1;
	size_t each = 2 + !!(leader->attr.read_format & PERF_FORMAT_LOST);
	uint64_t count, entry[2];

	if (!leader->values_read || !sample->read)
		return NULL;
	memset(capture->values, 0, size * sizeof(*capture->values));
	memcpy(&count, sample->read, sizeof(count)); /* so many are there: the decoder looked */
	for (uint64_t i = 0; i < count; i++) {
		struct capture_counter *counter;
		size_t place;

		memcpy(entry, sample->read + (1 + i * each) * sizeof(uint64_t), sizeof(entry));
		place = find_member(slot, event, size, entry[1]);
		if (place == SIZE_MAX)
			continue;
		counter = &slot->counters[event + place];
		capture->values[place] = entry[0] - counter->value;
		counter->value = entry[0];
	}
	return capture->values;
}
