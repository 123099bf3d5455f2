/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast path for samples: every layout that it supports, in the order given in the comment above
 * PERF_RECORD_SAMPLE in perf_event.h, and the records that it must leave to the slow path.
 */
#include "test.h"

#include "perfdata/reader_state.h"
#include "perfdata/recording.h"

/* Fields in order, and the test's value for each. */
static const struct field {
	uint64_t bit, value;
} fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, 77 },
	{ PERF_SAMPLE_IP, 0xffffffff81000010 },
	{ PERF_SAMPLE_TID, 0x0000000600000005 },
	{ PERF_SAMPLE_TIME, 123456789012 },
	{ PERF_SAMPLE_ADDR, 0xadd },
	{ PERF_SAMPLE_ID, 77 },
	{ PERF_SAMPLE_STREAM_ID, 0x5 },
	{ PERF_SAMPLE_CPU, 3 },
	{ PERF_SAMPLE_PERIOD, 4000 },
};
#define FIELDS (sizeof(fields) / sizeof(*fields))

static struct perfdata_reader *open_recording(const struct test_event *events, size_t count,
					      const struct buffer *records, struct buffer *bytes)
{
	struct perfdata_reader *reader = NULL;

	buffer_init(bytes, RECORDING_MAX_BYTES);
	put_recording(bytes, events, count, records);
	assert_no_error(perfdata_reader_open_memory(bytes->data, bytes->size, "test", &reader));
	return reader;
}

static uint64_t type_of(unsigned subset)
{
	uint64_t type = 0;

	for (size_t i = 0; i < FIELDS; i++)
		type |= subset >> i & 1 ? fields[i].bit : 0;
	return type;
}

/* A sample of TYPE, with a chain of CHAIN addresses if it has one, of which only KEPT are there. */
static void put_sample(struct buffer *out, uint64_t type, uint64_t chain, unsigned kept)
{
	uint64_t words[FIELDS + 8];
	size_t count = 0;

	for (size_t i = 0; i < FIELDS; i++)
		if (type & fields[i].bit)
			words[count++] = fields[i].value;
	if (type & PERF_SAMPLE_CALLCHAIN)
		words[count++] = chain;
	for (unsigned i = 0; type & PERF_SAMPLE_CALLCHAIN && i < kept; i++)
		words[count++] = 0x1000 + i;
	put_record(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, count * sizeof(*words));
}

static void check_sample(const struct perfdata_decoded *decoded, uint64_t type)
{
	const struct perfdata_sample *sample = &decoded->sample;
	bool has_id = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID);

	assert_int_equal(sample->ip, type & PERF_SAMPLE_IP ? 0xffffffff81000010 : 0);
	assert_int_equal(sample->pid, type & PERF_SAMPLE_TID ? 5 : 0);
	assert_int_equal(sample->tid, type & PERF_SAMPLE_TID ? 6 : 0);
	assert_int_equal(sample->time_ns, type & PERF_SAMPLE_TIME ? 123456789012 : 0);
	assert_int_equal(sample->cpu, type & PERF_SAMPLE_CPU ? 3 : 0);
	assert_int_equal(sample->period, type & PERF_SAMPLE_PERIOD ? 4000 : 250);
	assert_int_equal(sample->id, has_id ? 77 : 0);
	assert_int_equal(sample->misc, PERF_RECORD_MISC_USER);
	assert_int_equal(decoded->event_index, 0);
	assert_int_equal(decoded->id ? decoded->id->id : 0, has_id ? 77 : 0);
}

static void every_layout_is_read(void **state)
{
	(void)state;
	for (unsigned subset = 0; subset < 1U << (FIELDS + 1); subset++) {
		uint64_t type = type_of(subset) |
				(subset >> FIELDS ? (uint64_t)PERF_SAMPLE_CALLCHAIN : 0);
		struct test_event event = { .attr = { .sample_type = type, .sample_period = 250 },
					    .ids = { 76, 77 }, .id_count = 2 };
		bool two_ids = type & PERF_SAMPLE_IDENTIFIER && type & PERF_SAMPLE_ID;
		_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
		_cleanup_buffer_ struct buffer records, bytes;
		struct perfdata_decoded decoded;

		buffer_init(&records, RECORDING_MAX_BYTES);
		put_words(&records, PERF_RECORD_LOST, 0, 1, 2);
		put_sample(&records, type, 2, 2);
		reader = open_recording(&event, 1, &records, &bytes);
		assert_int_equal(perfdata_reader_next_plain(reader, &decoded), !two_ids);
		if (!two_ids)
			check_sample(&decoded, type);
		assert_false(perfdata_reader_next_plain(reader, &decoded));
	}
}

/* A record left by the fast path is the next one for the slow path, and vice versa. */
static void what_is_not_plain_is_left(void **state)
{
	const uint64_t chains = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	static const struct test_event event = { .attr.sample_type = chains };
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, bytes;
	struct perfdata_decoded decoded;
	struct perfdata_record record;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_sample(&records, chains, 3, 3);
	put_sample(&records, chains, 3, 2);	     /* the chain extends past the record */
	put_sample(&records, chains, UINT64_MAX, 3); /* and this number of words would overflow */
	put_words(&records, PERF_RECORD_SAMPLE, 1, 0x1000); /* no chain at all */
	put_words(&records, RECORD_FINISHED_ROUND, 0, 0);
	put_sample(&records, chains, 0, 0);
	reader = open_recording(&event, 1, &records, &bytes);
	assert_true(perfdata_reader_next_plain(reader, &decoded));
	for (int i = 0; i < 3; i++) {
		assert_false(perfdata_reader_next_plain(reader, &decoded));
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
		assert_int_equal(record.type, PERF_RECORD_SAMPLE);
		assert_false(perfdata_reader_decode(reader, &record, &decoded));
	}
	assert_false(perfdata_reader_next_plain(reader, &decoded));
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_int_equal(record.type, RECORD_FINISHED_ROUND);
	assert_true(perfdata_reader_next_plain(reader, &decoded));
	assert_int_equal(decoded.sample.ip, 0xffffffff81000010);
	assert_false(perfdata_reader_next_plain(reader, &decoded));
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_END);
}

static void other_fields_are_left(void **state)
{
	static const uint64_t others[] = { PERF_SAMPLE_READ, PERF_SAMPLE_RAW,
					   PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_WEIGHT,
					   1ULL << 40 };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct test_event event = { .attr.sample_type = PERF_SAMPLE_IP | others[i] };
		_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
		_cleanup_buffer_ struct buffer records, bytes;
		struct perfdata_decoded decoded;

		buffer_init(&records, RECORDING_MAX_BYTES);
		put_words(&records, PERF_RECORD_SAMPLE, 1, 0x1000, 0, 0, 0);
		reader = open_recording(&event, 1, &records, &bytes);
		assert_false(perfdata_reader_next_plain(reader, &decoded));
	}
}

static void events_are_told_apart_by_their_ids(void **state)
{
	static const struct test_event events[] = {
		{ .attr.sample_type = SIMPLE_TYPE, .ids = { 10 }, .id_count = 1 },
		{ .attr.sample_type = SIMPLE_TYPE | PERF_SAMPLE_PERIOD, .ids = { 20 },
		  .id_count = 1 },
		{ .attr.sample_type = SIMPLE_TYPE | PERF_SAMPLE_RAW, .ids = { 30 }, .id_count = 1 },
	};
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, bytes;
	struct perfdata_decoded decoded;
	struct perfdata_record record;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 20, 0x2000, 99);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 0, 0x1000); /* perf's own: the first event */
	put_words(&records, PERF_RECORD_SAMPLE, 1, 30, 0x3000, 0); /* not plain */
	put_words(&records, PERF_RECORD_SAMPLE, 1, 40, 0x4000);	  /* unknown event */
	put_words(&records, PERF_RECORD_SAMPLE, 1);
	reader = open_recording(events, 3, &records, &bytes);
	assert_true(perfdata_reader_next_plain(reader, &decoded));
	assert_int_equal(decoded.event_index, 1);
	assert_int_equal(decoded.sample.ip, 0x2000);
	assert_int_equal(decoded.sample.period, 99);
	assert_int_equal(decoded.id->id, 20);
	assert_true(perfdata_reader_next_plain(reader, &decoded));
	assert_int_equal(decoded.event_index, 0);
	assert_int_equal(decoded.sample.ip, 0x1000);
	assert_null(decoded.id);
	for (int i = 0; i < 3; i++) {
		assert_false(perfdata_reader_next_plain(reader, &decoded));
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
		assert_int_equal(perfdata_reader_decode(reader, &record, &decoded), i == 0);
	}
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_END);
}

static void samples_of_wanted_modes_are_passed_over(void **state)
{
	static const struct test_event event = { .attr.sample_type = PERF_SAMPLE_IP };
	const unsigned modes = 1U << PERF_RECORD_MISC_KERNEL | 1U << PERF_RECORD_MISC_USER;
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, bytes;
	struct perfdata_record record;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	for (uint64_t i = 0; i < 5; i++)
		put_words(&records, PERF_RECORD_SAMPLE, 1 + i % 2, i);
	put_words(&records, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_USER, 5);
	put_words(&records, PERF_RECORD_LOST, 0, 1, 2);
	put_words(&records, PERF_RECORD_SAMPLE, 0x4000 | PERF_RECORD_MISC_USER, 7);
	reader = open_recording(&event, 1, &records, &bytes);
	assert_int_equal(perfdata_reader_skip_samples(reader, modes, 3), 3);
	assert_int_equal(perfdata_reader_skip_samples(reader, modes, 100), 2);
	assert_int_equal(perfdata_reader_skip_samples(reader, modes, 100), 0);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_int_equal(record.misc, PERF_RECORD_MISC_GUEST_USER);
	assert_int_equal(perfdata_reader_skip_samples(reader, modes, 100), 0);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_int_equal(record.type, PERF_RECORD_LOST);
	assert_int_equal(perfdata_reader_skip_samples(reader, modes, 100), 1);
	assert_int_equal(perfdata_reader_skip_samples(reader, modes, 100), 0);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layout_is_read),
		cmocka_unit_test(what_is_not_plain_is_left),
		cmocka_unit_test(other_fields_are_left),
		cmocka_unit_test(events_are_told_apart_by_their_ids),
		cmocka_unit_test(samples_of_wanted_modes_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
