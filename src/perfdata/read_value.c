/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counter values in a sample (PERF_SAMPLE_READ): struct read_format of
 * include/uapi/linux/perf_event.h.
 *
 *	single: value, [enabled], [running], [id], [lost]
 *	group:  count, [enabled], [running], count times: value, [id], [lost]
 */
#include <string.h>

#include "perfdata/reader_state.h"

static uint64_t word_at(const struct perfdata_reader *reader, const uint8_t *words, uint64_t number)
{
	uint64_t word;

	memcpy(&word, words + number * sizeof(word), sizeof(word));
	return reader->swap ? __builtin_bswap64(word) : word;
}

static unsigned int time_words(uint64_t format)
{
	return !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
}

bool perfdata_reader_take_value(struct perfdata_reader *reader,
				const struct perfdata_decoded *sample, uint64_t number,
				struct perfdata_decoded *ret)
{
	const uint8_t *words = sample->sample.read;
	uint64_t format = reader->events.items[sample->event_index]->attr.read_format;
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t count = words && group ? word_at(reader, words, 0) : 1;
	unsigned int each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	uint64_t at = group ? 1 + time_words(format) + number * each : 0;

	/* No event is twice in a group. */
	if (!words || number >= count || number >= reader->events.count)
		return false;
	*ret = *sample;
	ret->sample.period = word_at(reader, words, at);
	ret->sample.id = 0;
	if (format & PERF_FORMAT_ID)
		ret->sample.id = word_at(reader, words, group ? at + 1 : 1 + time_words(format));
	ret->id = perfdata_ids_find(reader, ret->sample.id, &ret->event_index);
	return true;
}
