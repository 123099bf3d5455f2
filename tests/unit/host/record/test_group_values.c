/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of a group in samples of several kinds, which have ids of their own: what a reader
 * takes as the count of a sample, the difference to the last value of the same id, is what was
 * counted since the sample before.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "host/record/recorder_state.h"

#define EVENTS 3 /* one alone, and a group of two */
#define KIND_MAX 5

struct last {
	uint64_t id, value;
};

static uint64_t count_of(struct last *lasts, uint64_t id, uint64_t value)
{
	for (size_t i = 0; i < 2 * KIND_MAX; i++) {
		uint64_t before = lasts[i].value;

		if (lasts[i].id && lasts[i].id != id)
			continue;
		lasts[i] = (struct last){ id, value };
		return value - before;
	}
	fail_msg("too many ids");
	return 0;
}

static void open_recorder(struct recorder *recorder, struct host_events *events, char *path)
{
	struct perfdata_event described[EVENTS];

	assert_true(close(mkstemp(path)) == 0);
	assert_no_error(host_events_parse("dummy,{cpu-clock,cs}:S", events));
	for (size_t i = 0; i < EVENTS; i++)
		host_event_set_sampling(&events->items.items[i]);
	recorder->config.events = events->items.items;
	recorder->config.event_count = EVENTS;
	buffer_init(&recorder->values, 65536);
	perfdata_inventory_init(&recorder->inventory);
	recorder_describe_events(recorder, described);
	assert_int_equal(described[2].attr.sample_type, described[1].attr.sample_type);
	assert_int_equal(described[2].attr.read_format, PERF_FORMAT_ID | PERF_FORMAT_GROUP);
	assert_int_equal(described[0].attr.read_format, PERF_FORMAT_ID);
	assert_no_error(perfdata_writer_create(path, described, EVENTS, 100, &recorder->writer));
}

static void test_kinds(void **state)
{
	static const struct {
		enum recorder_kind kind;
		enum perfdata_chain_end end;
		uint64_t counts[2];
	} samples[] = {
		{ RECORDER_PLAIN, PERFDATA_CHAIN_COMPLETE, { 5, 2 } },
		{ RECORDER_AT_EXIT, PERFDATA_CHAIN_COMPLETE, { 70, 1 } },
		{ RECORDER_PLAIN, PERFDATA_CHAIN_COMPLETE, { 3, 0 } },
		{ RECORDER_PLAIN, PERFDATA_CHAIN_CUT, { 11, 6 } },
		{ RECORDER_NESTED, PERFDATA_CHAIN_COMPLETE, { 1, 1 } },
		{ RECORDER_AT_EXIT, PERFDATA_CHAIN_COMPLETE, { 9, 9 } },
		{ RECORDER_PLAIN, PERFDATA_CHAIN_CUT, { 2, 100 } },
	};
	char path[] = "/tmp/test_group_values_XXXXXX";
	struct recorder recorder = { 0 };
	struct host_events events = { 0 };
	uint64_t ids[EVENTS * RECORDER_IDS] = { 0 };
	struct recorder_thread thread = { .pid = 5, .tid = 6, .vcpu = 0, .ids = ids };
	struct last lasts[2 * KIND_MAX] = { 0 };
	struct perfdata_sample sample = { 0 };

	(void)state;
	open_recorder(&recorder, &events, path);
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		uint64_t words[5];

		assert_true(recorder_put_values(&recorder, &thread, 1, samples[i].kind,
						samples[i].end, samples[i].counts, &sample));
		assert_int_equal(sample.read_bytes, sizeof(words));
		memcpy(words, sample.read, sizeof(words));
		assert_int_equal(words[0], 2);
		assert_int_equal(words[2], recorder_id(&recorder, &thread, 1, samples[i].kind,
						       samples[i].end));
		assert_int_not_equal(words[2], words[4]);
		assert_int_equal(count_of(lasts, words[2], words[1]), samples[i].counts[0]);
		assert_int_equal(count_of(lasts, words[4], words[3]), samples[i].counts[1]);
	}
	assert_true(recorder_put_values(&recorder, &thread, 0, RECORDER_PLAIN,
					PERFDATA_CHAIN_COMPLETE, NULL, &sample));
	free(thread.totals);
	perfdata_writer_destroy(recorder.writer);
	perfdata_inventory_deinit(&recorder.inventory);
	buffer_deinit(&recorder.values);
	host_events_deinit(&events);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
