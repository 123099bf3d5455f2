/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples ordinary threads of this process by cpu-clock, with each engine: samples must come from
 * the requested threads, and everything the kernel took must be received or reported as lost.
 * Skipped if the kernel does not let us sample anything.
 */
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/progress.h"
#include "host/capture/capture.h"
#include "host/capture/ring.h"
#include "host/event/event.h"

#define PERIOD_NS 1000000u
#define RUN_NS 300000000ull
#define RAN_NS (20ull * PERIOD_NS) /* of CPU time: enough for some samples */

struct spinner {
	pthread_t thread;
	uint32_t tid;
	int stop;
};

static void *spin(void *data)
{
	struct spinner *spinner = data;

	__atomic_store_n(&spinner->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&spinner->stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

static void start(struct spinner *spinner)
{
	*spinner = (struct spinner){ 0 };
	assert_int_equal(pthread_create(&spinner->thread, NULL, spin, spinner), 0);
	while (!__atomic_load_n(&spinner->tid, __ATOMIC_ACQUIRE))
		usleep(100);
}

static void stop(struct spinner *spinner)
{
	__atomic_store_n(&spinner->stop, 1, __ATOMIC_RELAXED);
	pthread_join(spinner->thread, NULL);
}

struct received {
	const struct capture_thread *threads;
	uint64_t samples[4];
	uint64_t lost[4], lost_unknown;
	uint64_t wrong;
};

static void on_sample(void *context, size_t event, size_t thread,
		      const struct perfdata_sample *sample, const struct capture_guest *guest,
		      const uint64_t *counts)
{
	struct received *received = context;

	(void)event, (void)guest, (void)counts;
	received->samples[thread]++;
	if (sample->tid != received->threads[thread].tid || sample->pid != (uint32_t)getpid() ||
	    !sample->ip || !sample->time_ns || sample->period != PERIOD_NS)
		received->wrong++;
}

static void on_switch(void *context, size_t event, size_t thread,
		      const struct perfdata_sample *sample, const struct capture_guest *guest,
		      const uint64_t *counts)
{
	struct received *received = context;

	(void)event, (void)guest, (void)counts;
	received->samples[thread]++;
	received->wrong += sample->tid != received->threads[thread].tid;
}

static void on_lost(void *context, size_t event, size_t thread, uint64_t count, uint64_t time_ns)
{
	struct received *received = context;

	(void)event, (void)time_ns;
	if (thread == CAPTURE_NO_THREAD)
		received->lost_unknown += count;
	else
		received->lost[thread] += count;
}

/* TEXT with that period; false: nothing can be sampled here. */
static bool make_event(const char *text, uint64_t period, struct host_events *events)
{
	struct host_event *event;
	struct error *error;

	*events = (struct host_events){ 0 };
	assert_no_error(host_events_parse(text, events));
	event = &events->items.items[0];
	event->attr.sample_period = period;
	event->attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				  PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	event->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	error = host_event_probe(event);
	if (!error)
		return true;
	error_destroy(error);
	host_events_deinit(events);
	return false;
}

/* The thread's CPU time in ns. */
static uint64_t cpu_time(pthread_t thread)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void drain_for(struct capture *capture, uint64_t ns)
{
	for (uint64_t begin = clock_monotonic_ns(); clock_monotonic_ns() - begin < ns;) {
		capture_wait(capture, 20);
		capture_drain(capture);
	}
}

/* Waits until it has run for some periods, however busy the machine is. */
static void let_run(const struct spinner *spinner)
{
	uint64_t begin = cpu_time(spinner->thread);

	while (cpu_time(spinner->thread) - begin < RAN_NS)
		usleep(1000);
}

static void run(const struct capture_engine *engine, bool no_bpf)
{
	struct spinner spinners[3];
	struct capture_thread threads[3];
	struct host_events events;
	struct received received = { .threads = threads };
	struct capture_config config = { .event_count = 1, .expected_threads = 2, .engine = engine,
					 .no_bpf = no_bpf,
					 .sink = { &received, on_sample, on_lost } };
	struct capture *capture;
	bool by_bpf;
	uint64_t before, after, begin, end;
	size_t index;

	if (!make_event("cpu-clock", PERIOD_NS, &events))
		skip_because("no event can be opened here");
	config.events = events.items.items;
	for (int i = 0; i < 3; i++)
		start(&spinners[i]);
	assert_no_error(capture_create(&config, &capture));
	print_message("%s\n", capture_description(capture));
	by_bpf = strstr(capture_description(capture), "BPF");
	if (engine == &capture_cpus_engine && !no_bpf && !by_bpf)
		part_skipped("BPF's filter", "no BPF program can be loaded here");
	assert_false(by_bpf && (no_bpf || engine != &capture_cpus_engine));
	for (int i = 0; i < 2; i++) { /* the third is not sampled */
		threads[i] = (struct capture_thread){ getpid(), spinners[i].tid, 0 };
		assert_no_error(capture_add_thread(capture, &threads[i], &index));
		assert_int_equal(index, i);
	}
	before = cpu_time(spinners[0].thread);
	begin = clock_monotonic_ns();
	assert_no_error(capture_enable(capture));
	drain_for(capture, RUN_NS);
	for (int i = 0; i < 2; i++)
		while (cpu_time(spinners[i].thread) < RAN_NS)
			drain_for(capture, RUN_NS);
	capture_finish(capture);
	after = cpu_time(spinners[0].thread);
	end = clock_monotonic_ns();
	for (int i = 0; i < 3; i++)
		stop(&spinners[i]);

	/*
	 * A thread's clock ticks only while the thread runs, so there are no more samples than its
	 * CPU time allows (plus one at each end). A CPU's clock ticks all the time, whoever runs.
	 * A loaded machine may take far fewer samples, which is not a failure.
	 */
	assert_int_equal(received.wrong, 0);
	for (int i = 0; i < 2; i++)
		assert_true(received.samples[i] > 0);
	if (engine == &capture_threads_engine)
		assert_true(received.samples[0] + received.lost[0] <=
			    (after - before) / PERIOD_NS + 2);
	else
		assert_true(received.samples[0] + received.samples[1] <=
			    sysconf(_SC_NPROCESSORS_ONLN) * ((end - begin) / PERIOD_NS + 2));
	assert_int_equal(capture_stats(capture).undecodable, 0);
	capture_destroy(capture);
	host_events_deinit(&events);
}

static void test_threads(void **state)
{
	(void)state;
	run(&capture_threads_engine, false);
}

static void test_cpus(void **state)
{
	(void)state;
	run(&capture_cpus_engine, false);
}

static void test_cpus_without_bpf(void **state)
{
	(void)state;
	run(&capture_cpus_engine, true);
}

struct paced {
	uint64_t period;  /* the expected period of samples */
	uint64_t samples, others;
};

static void on_paced(void *context, size_t event, size_t thread,
		     const struct perfdata_sample *sample, const struct capture_guest *guest,
		     const uint64_t *counts)
{
	struct paced *paced = context;

	(void)event, (void)thread, (void)guest, (void)counts;
	paced->samples++;
	paced->others += sample->period != paced->period;
}

/* On a busy machine the threads may not run for seconds. */
static void drain_until_sampled(struct capture *capture, const struct paced *paced)
{
	for (int i = 0; i < 100 && (!i || !paced->samples); i++)
		drain_for(capture, RUN_NS);
	assert_true(paced->samples > 0);
}

/*
 * The rate is lowered while a thread is sampled, and another thread is added later. Each sample
 * must have the period of the rate at which it was taken, and there must be no more samples than
 * that rate allows.
 */
static void run_lowered(const struct capture_engine *engine)
{
	struct spinner spinners[2];
	struct capture_thread threads[2];
	struct host_events events;
	struct paced paced = { .period = PERIOD_NS };
	struct capture_config config = { .event_count = 1, .expected_threads = 1, .engine = engine,
					 .sink = { &paced, on_paced, on_lost } };
	struct capture *capture;
	uint64_t begin;
	size_t index;

	if (!make_event("cpu-clock", 1000, &events))
		skip_because("no event can be opened here");
	events.items.items[0].attr.freq = 1; /* 1000 is a rate now */
	config.events = events.items.items;
	assert_no_error(capture_create(&config, &capture));
	for (int i = 0; i < 2; i++) {
		start(&spinners[i]);
		threads[i] = (struct capture_thread){ getpid(), spinners[i].tid, 0 };
	}
	assert_no_error(capture_add_thread(capture, &threads[0], &index));
	assert_no_error(capture_enable(capture));
	drain_until_sampled(capture, &paced);
	capture_lower_rate(capture, 0.05);
	assert_int_equal(paced.others, 0);
	paced = (struct paced){ .period = 20 * PERIOD_NS };
	begin = clock_monotonic_ns();
	assert_no_error(capture_add_thread(capture, &threads[1], &index));
	drain_until_sampled(capture, &paced);
	drain_for(capture, RUN_NS);
	capture_finish(capture);
	assert_int_equal(paced.others, 0);
	assert_true(paced.samples <=
		    2 * ((clock_monotonic_ns() - begin) / (20 * PERIOD_NS) + 2));
	for (int i = 0; i < 2; i++)
		stop(&spinners[i]);
	capture_destroy(capture);
	host_events_deinit(&events);
}

static void test_lowered_rate_of_threads(void **state)
{
	(void)state;
	run_lowered(&capture_threads_engine);
}

static void test_lowered_rate_of_cpus(void **state)
{
	(void)state;
	run_lowered(&capture_cpus_engine);
}

/* A thread that ends does not stop the others, and adding one that is gone is not an error. */
static void test_thread_ends(void **state)
{
	struct spinner spinners[2];
	struct capture_thread threads[2];
	struct host_events events;
	struct received received = { .threads = threads };
	struct capture_config config = { .event_count = 1, .expected_threads = 2,
					 .engine = &capture_threads_engine,
					 .sink = { &received, on_sample, on_lost } };
	struct capture *capture;
	uint64_t until_end;
	size_t index;

	(void)state;
	if (!make_event("cpu-clock", PERIOD_NS, &events))
		skip_because("no event can be opened here");
	config.events = events.items.items;
	assert_no_error(capture_create(&config, &capture));
	assert_no_error(capture_enable(capture));
	for (int i = 0; i < 2; i++) {
		start(&spinners[i]);
		threads[i] = (struct capture_thread){ getpid(), spinners[i].tid, 0 };
		assert_no_error(capture_add_thread(capture, &threads[i], &index));
	}
	let_run(&spinners[0]);
	stop(&spinners[0]);
	capture_wait(capture, 1000); /* woken by the hang-up */
	capture_drain(capture);
	until_end = received.samples[0];
	assert_true(until_end > 0);
	assert_no_error(capture_add_thread(capture, &threads[0], &index));
	assert_int_equal(index, CAPTURE_NO_THREAD);
	let_run(&spinners[1]);
	capture_finish(capture);
	assert_int_equal(received.samples[0], until_end);
	assert_true(received.samples[1] > 0);
	assert_int_equal(received.wrong, 0);
	stop(&spinners[1]);
	capture_destroy(capture);
	host_events_deinit(&events);
}

/* A thread that is switched out at each of ROUNDS reads, for more samples than fit into a ring. */
#define ROUNDS 40000

struct switcher {
	pthread_t threads[2];
	int go[2], ping[2], pong[2], rest[2];
	uint32_t tid;
};

static void must(bool good)
{
	if (!good)
		abort(); /* cmocka cannot fail from another thread */
}

static void *switch_often(void *data)
{
	struct switcher *switcher = data;
	char byte;

	__atomic_store_n(&switcher->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	must(read(switcher->go[0], &byte, 1) == 1);
	for (int i = 0; i < ROUNDS; i++) {
		must(write(switcher->ping[1], "", 1) == 1);
		must(read(switcher->pong[0], &byte, 1) == 1);
	}
	must(read(switcher->rest[0], &byte, 1) == 1);
	return NULL;
}

static void *answer(void *data)
{
	struct switcher *switcher = data;
	char byte;

	for (int i = 0; i < ROUNDS; i++) {
		must(read(switcher->ping[0], &byte, 1) == 1);
		must(write(switcher->pong[1], "", 1) == 1);
	}
	return NULL;
}

/* Both kinds of context switches of a thread, from /proc; waits until it sleeps. */
static uint64_t count_switches(uint32_t tid)
{
	char path[64], line[128], state = 0;
	unsigned long long voluntary = 0, forced = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
	for (int i = 0; i < 10000 && state != 'S'; i++) {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		while (fgets(line, sizeof(line), file)) {
			sscanf(line, "State: %c", &state);
			sscanf(line, "voluntary_ctxt_switches: %llu", &voluntary);
			sscanf(line, "nonvoluntary_ctxt_switches: %llu", &forced);
		}
		fclose(file);
		usleep(1000);
	}
	assert_int_equal(state, 'S');
	return voluntary + forced;
}

/* Nobody reads the rings in the meantime: what does not fit is lost, and all of it is reported. */
static void run_lossy(const struct capture_engine *engine)
{
	struct switcher switcher = { .tid = 0 };
	struct capture_thread thread = { .pid = getpid() };
	struct received received = { .threads = &thread };
	struct host_events events;
	struct capture_config config = { .event_count = 1, .expected_threads = 1, .engine = engine,
					 .sink = { &received, on_switch, on_lost } };
	struct capture *capture;
	uint64_t before, after;
	size_t index;

	if (!make_event("context-switches", 1, &events))
		skip_because("no event can be opened here");
	config.events = events.items.items;
	assert_int_equal(pipe(switcher.go) | pipe(switcher.ping) | pipe(switcher.pong) |
			 pipe(switcher.rest), 0);
	assert_int_equal(pthread_create(&switcher.threads[0], NULL, switch_often, &switcher), 0);
	assert_int_equal(pthread_create(&switcher.threads[1], NULL, answer, &switcher), 0);
	while (!(thread.tid = __atomic_load_n(&switcher.tid, __ATOMIC_ACQUIRE)))
		usleep(100);
	before = count_switches(thread.tid);
	assert_no_error(capture_create(&config, &capture));
	assert_no_error(capture_add_thread(capture, &thread, &index));
	assert_no_error(capture_enable(capture));
	must(write(switcher.go[1], "", 1) == 1);
	pthread_join(switcher.threads[1], NULL);
	after = count_switches(thread.tid);
	capture_finish(capture);
	print_message("%llu samples, %llu lost\n", (unsigned long long)received.samples[0],
		      (unsigned long long)received.lost[0]);
	if (received.lost_unknown)
		skip_because("this kernel counts losses neither per event nor for BPF");
	assert_true(received.lost[0] > 0);
	assert_int_equal(received.samples[0] + received.lost[0], after - before);
	assert_true(capture_stats(capture).lost_seen <= received.lost[0]);
	must(write(switcher.rest[1], "", 1) == 1);
	pthread_join(switcher.threads[0], NULL);
	capture_destroy(capture);
	host_events_deinit(&events);
}

static void test_losses_of_threads(void **state)
{
	(void)state;
	run_lossy(&capture_threads_engine);
}

static void test_losses_of_cpus(void **state)
{
	(void)state;
	run_lossy(&capture_cpus_engine);
}

/* A handmade ring: records that wrap are reassembled, and malformed ones end the pass. */
static void test_ring(void **state)
{
	struct perf_event_mmap_page page = { 0 };
	uint64_t data[8] = { 0 };
	uint8_t scratch[RING_RECORD_MAX];
	struct ring ring = { .page = &page, .data = (uint8_t *)data, .data_bytes = sizeof(data) };
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE, .size = 24 };
	const struct perf_event_header *record;

	(void)state;
	ring.tail = 48; /* two words before the end: the record's third wraps */
	page.data_head = 72;
	memcpy(&data[6], &header, 8);
	data[7] = 0x1111;
	data[0] = 0x2222;
	ring_begin(&ring);
	record = ring_next(&ring, scratch);
	assert_ptr_equal(record, scratch);
	assert_int_equal(((const uint64_t *)record)[1], 0x1111);
	assert_int_equal(((const uint64_t *)record)[2], 0x2222);
	assert_null(ring_next(&ring, scratch));
	ring_end(&ring);
	assert_int_equal(page.data_tail, 72);

	header.size = 0; /* would be read forever */
	memcpy(&data[1], &header, 8);
	page.data_head = 80;
	ring_begin(&ring);
	assert_null(ring_next(&ring, scratch));
	ring_end(&ring);
	assert_int_equal(page.data_tail, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_cpus_without_bpf),
		cmocka_unit_test(test_thread_ends),
		cmocka_unit_test(test_losses_of_threads),
		cmocka_unit_test(test_losses_of_cpus),
		cmocka_unit_test(test_lowered_rate_of_threads),
		cmocka_unit_test(test_lowered_rate_of_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
