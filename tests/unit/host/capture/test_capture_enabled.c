/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enabling and disabling single events, on threads that are there and on one that comes later, with
 * each engine. Skipped if the kernel does not let us sample anything.
 */
#include "test.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/capture/capture.h"
#include "host/event/event.h"

#define PERIOD_NS 1000000u
#define EVENTS 2
#define THREADS 2

static uint64_t samples[EVENTS][THREADS];

static void on_sample(void *context, size_t event, size_t thread,
		      const struct perfdata_sample *sample, const struct capture_guest *guest,
		      const uint64_t *counts)
{
	(void)context, (void)sample, (void)guest, (void)counts;
	samples[event][thread]++;
}

static void on_lost(void *context, size_t event, size_t thread, uint64_t count, uint64_t time_ns)
{
	(void)context, (void)time_ns, (void)count, (void)thread, (void)event;
}

static uint32_t tids[THREADS];
static int ended;

static void *spin(void *data)
{
	__atomic_store_n((uint32_t *)data, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED))
		;
	return NULL;
}

static bool make_events(struct host_events *events)
{
	assert_no_error(host_events_parse("cpu-clock,task-clock", events));
	for (size_t i = 0; i < EVENTS; i++) {
		struct host_event *event = &events->items.items[i];
		struct error *error;

		event->attr.sample_period = PERIOD_NS;
		event->attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
					  PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
					  PERF_SAMPLE_PERIOD;
		event->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
		error = host_event_probe(event);
		if (error) {
			error_destroy(error);
			host_events_deinit(events);
			return false;
		}
	}
	return true;
}

/* On a busy machine a thread may not run for seconds. */
static void drain_until(struct capture *capture, const uint64_t *count)
{
	uint64_t before = *count;

	for (int i = 0; i < 1200 && *count < before + 5; i++) {
		capture_wait(capture, 100);
		capture_drain(capture);
	}
	assert_true(*count >= before + 5);
}

static void run(const struct capture_engine *engine)
{
	struct host_events events = { 0 };
	struct capture_config config = { .event_count = EVENTS, .expected_threads = THREADS,
					 .engine = engine, .sink = { NULL, on_sample, on_lost },
					 .no_bpf = true };
	pthread_t threads[THREADS];
	struct capture *capture;
	uint64_t before;
	size_t index;

	if (!make_events(&events))
		skip_because("no event can be opened here");
	config.events = events.items.items;
	memset(samples, 0, sizeof(samples));
	ended = 0;
	assert_no_error(capture_create(&config, &capture));
	for (size_t i = 0; i < THREADS; i++) {
		tids[i] = 0;
		pthread_create(&threads[i], NULL, spin, &tids[i]);
		while (!__atomic_load_n(&tids[i], __ATOMIC_ACQUIRE))
			usleep(100);
	}
	assert_no_error(capture_add_thread(
		capture, &(struct capture_thread){ getpid(), tids[0], 0 }, &index));
	assert_false(capture_is_enabled(capture));
	capture_set_enabled(capture, 1, true);
	assert_true(capture_is_enabled(capture));
	drain_until(capture, &samples[1][0]);
	assert_no_error(capture_add_thread(
		capture, &(struct capture_thread){ getpid(), tids[1], 0 }, &index));
	drain_until(capture, &samples[1][1]);
	capture_lower_rate(capture, 0.5); /* which disables and enables, too */
	assert_int_equal(samples[0][0] + samples[0][1], 0);

	capture_set_enabled(capture, 0, true);
	capture_set_enabled(capture, 1, false);
	capture_drain(capture);
	before = samples[1][0] + samples[1][1];
	drain_until(capture, &samples[0][0]);
	drain_until(capture, &samples[0][1]);
	assert_int_equal(samples[1][0] + samples[1][1], before);
	capture_set_enabled(capture, 0, false);
	assert_false(capture_is_enabled(capture));
	capture_finish(capture);
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	capture_destroy(capture);
	host_events_deinit(&events);
}

static void test_of_threads(void **state)
{
	(void)state;
	run(&capture_threads_engine);
}

static void test_of_cpus(void **state)
{
	(void)state;
	run(&capture_cpus_engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_of_threads),
					    cmocka_unit_test(test_of_cpus) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
