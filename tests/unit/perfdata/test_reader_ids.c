/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which event, VM and vCPU a record belongs to: ids in every possible position, both versions of
 * ID_INDEX, names and ids inside the stream.
 */
#include "test.h"

#include "perfdata/reader_state.h"
#include "perfdata/recording.h"

static struct perfdata_reader *open_recording(const struct test_event *events, size_t count,
					      const struct buffer *records, struct buffer *bytes)
{
	struct perfdata_reader *reader = NULL;

	buffer_init(bytes, RECORDING_MAX_BYTES);
	put_recording(bytes, events, count, records);
	assert_no_error(perfdata_reader_open_memory(bytes->data, bytes->size, "test", &reader));
	return reader;
}

/* The next record must decode to this event and ip. */
static void assert_sample(struct perfdata_reader *reader, size_t event_index, uint64_t ip,
			  struct perfdata_decoded *ret)
{
	struct perfdata_record record;

	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_int_equal(record.type, PERF_RECORD_SAMPLE);
	assert_true(perfdata_reader_decode(reader, &record, ret));
	assert_int_equal(ret->event_index, event_index);
	assert_int_equal(ret->sample.ip, ip);
}

static void assert_no_sample(struct perfdata_reader *reader)
{
	struct perfdata_record record;
	struct perfdata_decoded decoded;

	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_false(perfdata_reader_decode(reader, &record, &decoded));
}

static void identifier_tells_events_of_different_layout_apart(void **state)
{
	static const struct test_event events[] = {
		{ .attr.sample_type = SIMPLE_TYPE, .attr.sample_id_all = 1, .ids = { 10, 11 },
		  .id_count = 2 },
		{ .attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME,
		  .attr.sample_id_all = 1, .ids = { 20 }, .id_count = 1 },
	};
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, bytes;
	struct perfdata_decoded decoded;
	struct perfdata_record record;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 20, 777);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 11, 0x1000);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 12, 0x1000); /* an unknown id */
	put_words(&records, PERF_RECORD_SAMPLE, 1, 0, 0x2000);	/* perf's own: the first event */
	put_words(&records, PERF_RECORD_SAMPLE, 1, 20);		/* too short for its event */
	put_words(&records, PERF_RECORD_LOST, 0, 1, 2, 555, 20); /* id, lost; time, id */
	reader = open_recording(events, 2, &records, &bytes);
	assert_sample(reader, 1, 0, &decoded);
	assert_int_equal(decoded.sample.time_ns, 777);
	assert_int_equal(decoded.id->id, 20);
	assert_sample(reader, 0, 0x1000, &decoded);
	assert_int_equal(decoded.id->id, 11);
	assert_no_sample(reader);
	assert_sample(reader, 0, 0x2000, &decoded);
	assert_null(decoded.id);
	assert_no_sample(reader);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_true(perfdata_reader_decode_id(reader, &record, &decoded));
	assert_int_equal(decoded.event_index, 1);
	assert_int_equal(decoded.sample.time_ns, 555);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_END);
}

/* Only PERF_SAMPLE_ID: after ip, pid and tid, time, addr; before stream id and cpu. */
static void finds_ids_without_identifier(void **state)
{
	const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
	const struct test_event events[] = {
		{ .attr.sample_type = type, .attr.sample_id_all = 1, .ids = { 10 }, .id_count = 1 },
		{ .attr.sample_type = type | PERF_SAMPLE_PERIOD, .attr.sample_id_all = 1,
		  .ids = { 20 }, .id_count = 1 },
	};
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, bytes;
	struct perfdata_decoded decoded;
	struct perfdata_record record;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 0x1000, 1, 10, 3);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 0x2000, 1, 20, 3, 4000);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 0x2000, 1);	/* ends before its id */
	put_words(&records, PERF_RECORD_LOST, 0, 1, 2, 9, 20, 3); /* time, id, cpu */
	put_words(&records, PERF_RECORD_LOST, 0, 1); /* no room for a trailer */
	reader = open_recording(events, 2, &records, &bytes);
	assert_sample(reader, 0, 0x1000, &decoded);
	assert_sample(reader, 1, 0x2000, &decoded);
	assert_int_equal(decoded.sample.period, 4000);
	assert_int_equal(decoded.sample.cpu, 3);
	assert_no_sample(reader);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_true(perfdata_reader_decode_id(reader, &record, &decoded));
	assert_int_equal(decoded.event_index, 1);
	assert_int_equal(decoded.sample.time_ns, 9);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_false(perfdata_reader_decode_id(reader, &record, &decoded));
}

/* perf rejects such files; here no sample is assigned to a wrong event. */
static void refuses_to_guess(void **state)
{
	static const struct test_event events[] = {
		{ .attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID, .ids = { 10 },
		  .id_count = 1 },
		{ .attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID,
		  .ids = { 20 }, .id_count = 1 },
	};
	_cleanup_buffer_ struct buffer records;
	struct perfdata_decoded decoded;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_words(&records, PERF_RECORD_SAMPLE, 1, 0x1000, 10, 20);
	{
		_cleanup_buffer_ struct buffer bytes;
		_cleanup_perfdata_reader_ struct perfdata_reader *reader =
			open_recording(events, 2, &records, &bytes);

		assert_no_sample(reader);
	}
	{
		_cleanup_buffer_ struct buffer bytes;
		_cleanup_perfdata_reader_ struct perfdata_reader *reader =
			open_recording(events, 1, &records, &bytes);

		assert_sample(reader, 0, 0x1000, &decoded); /* one event: unambiguous */
	}
}

static void put_id_index(struct buffer *records, bool guests)
{
	if (guests)
		put_words(records, RECORD_ID_INDEX, 0, 2, /* count */
			  10, 0, UINT64_MAX, 4001,	   /* id, index, cpu, tid */
			  11, 1, 3, UINT64_MAX,
			  4000, 1, 0, UINT64_MAX);	   /* machine pid, vcpu */
	else
		put_words(records, RECORD_ID_INDEX, 0, 2, 10, 0, UINT64_MAX, 4001, 11, 1, 3,
			  UINT64_MAX);
}

static void ids_get_their_vm(void **state)
{
	static const struct test_event event = {
		.attr.sample_type = SIMPLE_TYPE, .ids = { 10, 11 }, .id_count = 2,
	};

	(void)state;
	for (int guests = 0; guests < 2; guests++) {
		_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
		_cleanup_buffer_ struct buffer records, bytes;
		const struct perfdata_id *ids;

		buffer_init(&records, RECORDING_MAX_BYTES);
		put_id_index(&records, guests);
		reader = open_recording(&event, 1, &records, &bytes);
		/* Right after opening: it comes before the first sample. */
		ids = perfdata_reader_event(reader, 0)->ids;
		assert_int_equal(ids[0].tid, 4001);
		assert_int_equal(ids[0].cpu, UINT32_MAX);
		assert_int_equal(ids[0].machine_pid, guests ? 4000 : 0);
		assert_int_equal(ids[0].vcpu, guests ? 1 : PERFDATA_NO_VCPU);
		assert_int_equal(ids[1].tid, 0);
		assert_int_equal(ids[1].cpu, 3);
		assert_int_equal(ids[1].machine_pid, 0);
		assert_int_equal(ids[1].vcpu, PERFDATA_NO_VCPU);
	}
}

/* vCPUs that appear later: a record with their ids comes between samples. */
static void ids_may_come_late(void **state)
{
	static const struct test_event event = {
		.attr.sample_type = SIMPLE_TYPE, .ids = { 5 }, .id_count = 1,
	};
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer records, bytes;
	struct perfdata_decoded decoded;
	struct perfdata_record record;

	(void)state;
	buffer_init(&records, RECORDING_MAX_BYTES);
	put_words(&records, PERF_RECORD_SAMPLE, 4, 10, 0x1000);
	put_id_index(&records, true);
	put_words(&records, PERF_RECORD_SAMPLE, 4, 10, 0x2000);
	reader = open_recording(&event, 1, &records, &bytes);
	assert_sample(reader, 0, 0x1000, &decoded);
	assert_null(decoded.id);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_sample(reader, 0, 0x2000, &decoded);
	assert_int_equal(decoded.id->machine_pid, 4000);
	assert_int_equal(decoded.id->vcpu, 1);
	assert_int_equal(perfdata_reader_event(reader, 0)->id_count, 3);
}

static void refuses_an_index_that_is_cut_short(void **state)
{
	static const uint64_t counts[] = { 3, UINT64_MAX, UINT64_MAX / 32 + 1, UINT64_MAX / 48 };
	static const struct test_event event = { .attr.sample_type = SIMPLE_TYPE };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
		_cleanup_buffer_ struct buffer records, bytes;
		struct perfdata_record record;

		buffer_init(&records, RECORDING_MAX_BYTES);
		put_id_index(&records, false);
		memcpy(records.data + 8, &counts[i], 8);
		reader = open_recording(&event, 1, &records, &bytes);
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_BAD);
	}
}

/* The pipe form: attr, ids and name are in records, the event's second id in ID_INDEX. */
static void pipe_form_is_known_after_opening(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct {
		struct perf_event_attr attr;
		uint64_t ids[2];
	} body = {
		.attr = { .type = PERF_TYPE_RAW, .config = 0x1a8, .sample_type = SIMPLE_TYPE,
			  .size = sizeof(body.attr) },
		.ids = { 10, 11 },
	};
	struct {
		uint64_t what, id;
		char name[16];
	} update = { FORMAT_EVENT_UPDATE_NAME, 11, "my-event:G" };
	struct perfdata_decoded decoded;
	struct perfdata_record record;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	put_pipe_header(&bytes);
	put_record(&bytes, RECORD_HEADER_ATTR, 0, &body, sizeof(body));
	put_record(&bytes, RECORD_EVENT_UPDATE, 0, &update, sizeof(update));
	put_words(&bytes, PERF_RECORD_SAMPLE, 4, 11, 0x1000);
	assert_no_error(perfdata_reader_open_memory(bytes.data, bytes.size, "test", &reader));
	for (int pass = 0; pass < 3; pass++) {
		assert_int_equal(perfdata_reader_event_count(reader), 1);
		assert_int_equal(perfdata_reader_event(reader, 0)->id_count, 2);
		assert_string_equal(perfdata_reader_event(reader, 0)->name, "my-event:G");
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
		assert_int_equal(record.type, RECORD_HEADER_ATTR);
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
		assert_sample(reader, 0, 0x1000, &decoded);
		assert_int_equal(decoded.id->id, 11);
		assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_END);
		perfdata_reader_rewind(reader);
	}
}

/* More ids than the cache has slots, looked up in an order that makes them collide. */
static void finds_ids_that_collide_in_the_cache(void **state)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_buffer_ struct buffer bytes;
	struct {
		struct perf_event_attr attr;
		uint64_t ids[1000];
	} body = { .attr = { .sample_type = SIMPLE_TYPE, .size = sizeof(body.attr) } };
	struct perfdata_decoded decoded;
	struct perfdata_record record;

	(void)state;
	buffer_init(&bytes, RECORDING_MAX_BYTES);
	put_pipe_header(&bytes);
	for (int event = 0; event < 2; event++) {
		for (uint64_t i = 0; i < 1000; i++)
			body.ids[i] = 1 + ID_CACHE_SIZE * i + event;
		put_record(&bytes, RECORD_HEADER_ATTR, 0, &body, sizeof(body));
	}
	for (uint64_t i = 0; i < 3000; i++)
		put_words(&bytes, PERF_RECORD_SAMPLE, 4, 1 + ID_CACHE_SIZE * (i * 7 % 1000) + i % 2,
			  i);
	assert_no_error(perfdata_reader_open_memory(bytes.data, bytes.size, "test", &reader));
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	assert_int_equal(perfdata_reader_next(reader, &record), PERFDATA_RECORD);
	for (uint64_t i = 0; i < 3000; i++) {
		assert_sample(reader, i % 2, i, &decoded);
		assert_int_equal(decoded.id->id, 1 + ID_CACHE_SIZE * (i * 7 % 1000) + i % 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identifier_tells_events_of_different_layout_apart),
		cmocka_unit_test(finds_ids_without_identifier),
		cmocka_unit_test(refuses_to_guess),
		cmocka_unit_test(ids_get_their_vm),
		cmocka_unit_test(ids_may_come_late),
		cmocka_unit_test(refuses_an_index_that_is_cut_short),
		cmocka_unit_test(pipe_form_is_known_after_opening),
		cmocka_unit_test(finds_ids_that_collide_in_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
