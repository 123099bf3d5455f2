/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the 64-bit fields: those that come first in a sample, and those of the sample_id
 * trailer of other records (the comments above PERF_RECORD_SAMPLE and struct sample_id in
 * include/uapi/linux/perf_event.h; perf_output_sample() and __perf_event__output_id_sample() in
 * kernel/events/core.c).
 *
 * A list takes three macros: WORD(BIT, MEMBER) is a 64-bit field, which is member MEMBER of struct
 * perfdata_sample and exists if sample_type has PERF_SAMPLE_BIT; PAIR(BIT, FIRST, SECOND) is two
 * 32-bit fields; HALF(BIT, MEMBER) is one 32-bit field and 32 unused bits.
 */
#ifndef PERFDATA_SAMPLE_FIELDS_H
#define PERFDATA_SAMPLE_FIELDS_H

#include <linux/perf_event.h>
#include <stdint.h>

#define SAMPLE_FIRST_FIELDS(WORD, PAIR, HALF)                                                      \
	WORD(IDENTIFIER, id)                                                                       \
	WORD(IP, ip)                                                                               \
	PAIR(TID, pid, tid)                                                                        \
	WORD(TIME, time_ns)                                                                        \
	WORD(ADDR, addr)                                                                           \
	WORD(ID, id)                                                                               \
	WORD(STREAM_ID, stream_id)                                                                 \
	HALF(CPU, cpu)                                                                             \
	WORD(PERIOD, period)

#define SAMPLE_TRAILER_FIELDS(WORD, PAIR, HALF)                                                    \
	PAIR(TID, pid, tid)                                                                        \
	WORD(TIME, time_ns)                                                                        \
	WORD(ID, id)                                                                               \
	WORD(STREAM_ID, stream_id)                                                                 \
	HALF(CPU, cpu)                                                                             \
	WORD(IDENTIFIER, id)

#define SAMPLE_BIT(bit, ...) | PERF_SAMPLE_##bit
#define SAMPLE_FIRST_BITS ((uint64_t)(0 SAMPLE_FIRST_FIELDS(SAMPLE_BIT, SAMPLE_BIT, SAMPLE_BIT)))
#define SAMPLE_TRAILER_BITS                                                                        \
	((uint64_t)(0 SAMPLE_TRAILER_FIELDS(SAMPLE_BIT, SAMPLE_BIT, SAMPLE_BIT)))

#define SAMPLE_COUNT_BEFORE(bit, ...)                                                              \
	if (field == PERF_SAMPLE_##bit)                                                            \
		return __builtin_popcountll(type & before);                                        \
	before |= PERF_SAMPLE_##bit;

/*
 * The number of words before FIELD, one of TYPE's SAMPLE_FIRST_BITS, in a sample of that
 * sample_type.
 */
static inline unsigned int sample_words_before(uint64_t type, uint64_t field)
{
	uint64_t before = 0;

	SAMPLE_FIRST_FIELDS(SAMPLE_COUNT_BEFORE, SAMPLE_COUNT_BEFORE, SAMPLE_COUNT_BEFORE)
	return 0;
}

/* The number of words before FIELD, one of TYPE's SAMPLE_TRAILER_BITS, in the trailer. */
static inline unsigned int sample_trailer_words_before(uint64_t type, uint64_t field)
{
	uint64_t before = 0;

	SAMPLE_TRAILER_FIELDS(SAMPLE_COUNT_BEFORE, SAMPLE_COUNT_BEFORE, SAMPLE_COUNT_BEFORE)
	return 0;
}

#endif
