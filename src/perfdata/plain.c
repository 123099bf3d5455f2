/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast path for the samples of nearly all recordings: this machine's byte order, an event whose
 * samples are 64-bit fields and perhaps a call chain, and nothing else. The positions of its fields
 * are computed once per event. Everything else, and everything malformed, is left to
 * perfdata_reader_next() and perfdata_reader_decode().
 *
 * Headers are some hundred bytes apart, so they have to be prefetched: two cache lines for each,
 * because one would miss every other header.
 */
#include <string.h>

#include "perfdata/reader_state.h"
#include "perfdata/sample_fields.h"

#define PREFETCH_BYTES 4096
#define CACHE_LINE_BYTES 64

/* The position of FIELD in samples of TYPE; PLAIN_ABSENT if it is missing. */
static uint8_t place_of(uint64_t type, uint64_t field)
{
	return type & field ? sizeof(uint64_t) * sample_words_before(type, field) : PLAIN_ABSENT;
}

struct plain_layout perfdata_plain_layout(const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	struct plain_layout layout = {
		.is_plain = !(type & ~(SAMPLE_FIRST_BITS | PERF_SAMPLE_CALLCHAIN)) &&
			    (~type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)),
		.has_chain = type & PERF_SAMPLE_CALLCHAIN,
		.ip = place_of(type, PERF_SAMPLE_IP),
		.tid = place_of(type, PERF_SAMPLE_TID),
		.time = place_of(type, PERF_SAMPLE_TIME),
		.cpu = place_of(type, PERF_SAMPLE_CPU),
		.period = place_of(type, PERF_SAMPLE_PERIOD),
		.id = place_of(type, type & PERF_SAMPLE_ID ? PERF_SAMPLE_ID
							   : PERF_SAMPLE_IDENTIFIER),
		.sample_period = attr->sample_period,
		.bytes = sizeof(uint64_t) * __builtin_popcountll(type & SAMPLE_FIRST_BITS),
	};

	return layout;
}

static inline uint64_t word_at(const uint8_t *body, uint8_t place)
{
	uint64_t word = 0;

	if (place != PLAIN_ABSENT)
		memcpy(&word, body + place, sizeof(word));
	return word;
}

/* The id and the event of a sample, if there are several; false: use the slow path. */
static inline bool find_event(struct perfdata_reader *reader, const uint8_t *body,
			      size_t body_bytes, struct perfdata_decoded *ret)
{
	size_t end = (reader->ids.sample_word + 1) * sizeof(uint64_t);

	if (reader->ids.sample_word < 0 || end > body_bytes)
		return false;
	ret->sample.id = word_at(body, end - sizeof(uint64_t));
	ret->event_index = 0;
	ret->id = perfdata_ids_find(reader, ret->sample.id, &ret->event_index);
	return ret->id || !ret->sample.id;
}

/* The chain at AT, of at most LEFT bytes; false: use the slow path. */
static inline bool take_chain(const uint8_t *at, size_t left, struct perfdata_sample *sample)
{
	if (left < sizeof(uint64_t) || (uintptr_t)at % sizeof(uint64_t))
		return false;
	memcpy(&sample->callchain_count, at, sizeof(uint64_t));
	sample->callchain = (const uint64_t *)(at + sizeof(uint64_t));
	return sample->callchain_count <= left / sizeof(uint64_t) - 1;
}

static inline bool decode(struct perfdata_reader *reader, const uint8_t *body, size_t body_bytes,
			  struct perfdata_decoded *ret)
{
	bool several = reader->events.count > 1;
	struct perfdata_sample *sample = &ret->sample;
	const struct plain_layout *layout = reader->layouts.items;
	uint64_t tids, cpu;

	if (several) {
		if (!find_event(reader, body, body_bytes, ret))
			return false;
		layout += ret->event_index;
	}
	if (!layout->is_plain || body_bytes < layout->bytes)
		return false;
	sample->callchain_count = 0;
	if (layout->has_chain &&
	    !take_chain(body + layout->bytes, body_bytes - layout->bytes, sample))
		return false;
	if (!several) {
		sample->id = word_at(body, layout->id);
		ret->id = perfdata_ids_find(reader, sample->id, &ret->event_index);
		ret->event_index = 0;
	}
	tids = word_at(body, layout->tid);
	memcpy(&sample->pid, &tids, sizeof(sample->pid));
	memcpy(&sample->tid, (uint8_t *)&tids + sizeof(sample->pid), sizeof(sample->tid));
	sample->ip = word_at(body, layout->ip);
	sample->time_ns = word_at(body, layout->time);
	cpu = word_at(body, layout->cpu);
	memcpy(&sample->cpu, &cpu, sizeof(sample->cpu));
	sample->period = layout->period == PLAIN_ABSENT ? layout->sample_period
							: word_at(body, layout->period);
	return true;
}

/* Whether there is a complete kernel record at AT. */
static inline bool has_record(const struct perfdata_reader *reader, const uint8_t *at,
			      struct perf_event_header *ret)
{
	size_t left = reader->window.end - at;

	if (left < sizeof(*ret))
		return false;
	memcpy(ret, at, sizeof(*ret));
	return ret->size >= sizeof(*ret) && ret->size <= left && ret->type < RECORD_USER_FIRST;
}

static inline void prefetch_ahead(const uint8_t *at)
{
	__builtin_prefetch(at + PREFETCH_BYTES);
	__builtin_prefetch(at + PREFETCH_BYTES + CACHE_LINE_BYTES);
}

static bool is_ready(const struct perfdata_reader *reader)
{
	return !reader->swap && !reader->error && reader->events.count;
}

bool perfdata_reader_next_plain(struct perfdata_reader *reader, struct perfdata_decoded *ret)
{
	const uint8_t *at = reader->window.at;
	struct perf_event_header header;

	if (!is_ready(reader))
		return false;
	while (has_record(reader, at, &header)) {
		prefetch_ahead(at);
		if (header.type == PERF_RECORD_SAMPLE) {
			reader->window.at = at;
			if (!decode(reader, at + sizeof(header), header.size - sizeof(header), ret))
				return false;
			ret->sample.misc = header.misc;
			reader->window.at = at + header.size;
			return true;
		}
		at += header.size;
	}
	reader->window.at = at;
	return false;
}

size_t perfdata_reader_skip_samples(struct perfdata_reader *reader, unsigned cpumodes, size_t max)
{
	const uint8_t *at = reader->window.at;
	struct perf_event_header header;
	size_t count = 0;

	if (!is_ready(reader))
		return 0;
	while (count < max && has_record(reader, at, &header) &&
	       header.type == PERF_RECORD_SAMPLE &&
	       (cpumodes >> (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) & 1)) {
		prefetch_ahead(at);
		at += header.size;
		count++;
	}
	reader->window.at = at;
	return count;
}
