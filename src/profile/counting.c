/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each thread has its own counter and takes one part of the recording after another, in their
 * order; at the end the counters are merged. A recording without parts is read from start to end.
 */
#include "profile/counting.h"

#include <pthread.h>
#include <sched.h>

#include "base/memory.h"

/* With more threads, they mostly wait for each other. */
#define THREADS_MAX 8
/* The minimum number of parts for which another thread is worthwhile. */
#define THREAD_PARTS 2

struct counting {
	struct session *session;
	size_t part_count;
	size_t next_part; /* atomic, like the next: */
	bool damaged;
};

struct worker {
	struct counting *counting;
	struct counter *counter; /* the first one uses the caller's */
	struct counter own;
	pthread_t thread;
	bool started;
};

static void count_part(struct counting *counting, struct counter *counter, size_t number)
{
	struct perfdata_reader *reader = counting->session->reader;
	struct perfdata_reader *part = perfdata_reader_open_part(reader, number);
	struct session_sample sample;
	enum perfdata_status status;

	counter_begin_part(counter, number);
	while ((status = session_next_in_part(counting->session, part, &sample)) == PERFDATA_RECORD)
		counter_count(counter, &sample);
	counter_end_part(counter);
	if (status == PERFDATA_BAD)
		__atomic_store_n(&counting->damaged, true, __ATOMIC_RELAXED);
	perfdata_reader_close_part(reader, part, number);
}

static void *count_parts(void *data)
{
	struct worker *worker = data;
	struct counting *counting = worker->counting;
	size_t number;

	while ((number = __atomic_fetch_add(&counting->next_part, 1, __ATOMIC_RELAXED)) <
	       counting->part_count)
		count_part(counting, worker->counter, number);
	return NULL;
}

static size_t thread_count(size_t parts)
{
	cpu_set_t allowed;
	size_t cpus = 1;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		cpus = CPU_COUNT(&allowed);
	if (cpus > THREADS_MAX)
		cpus = THREADS_MAX;
	if (parts / THREAD_PARTS < cpus)
		cpus = parts / THREAD_PARTS;
	return cpus ? cpus : 1;
}

static void start(struct worker *worker, struct counting *counting, const struct counter *first)
{
	worker->counting = counting;
	worker->counter = &worker->own;
	counter_init(&worker->own, first->shared, resolver_create_beside(first->resolver));
	worker->started = !pthread_create(&worker->thread, NULL, count_parts, worker);
}

static void finish(struct worker *worker, struct counter *first)
{
	if (worker->started) {
		pthread_join(worker->thread, NULL);
		counter_merge(first, &worker->own);
	}
	resolver_destroy(worker->own.resolver);
	counter_deinit(&worker->own);
}

static void count_in_threads(struct counting *counting, struct counter *counter, size_t threads)
{
	_cleanup_free_ struct worker *workers = memory_calloc(threads, sizeof(*workers));

	for (size_t i = 1; i < threads; i++)
		start(&workers[i], counting, counter);
	workers[0] = (struct worker){ .counting = counting, .counter = counter };
	count_parts(&workers[0]);
	for (size_t i = 1; i < threads; i++)
		finish(&workers[i], counter);
}

static bool count_all(struct session *session, struct counter *counter)
{
	struct session_sample sample;
	enum perfdata_status status;

	perfdata_reader_keep_nothing(session->reader);
	counter_begin_part(counter, 0);
	while ((status = session_next_plain(session, &sample)) == PERFDATA_RECORD)
		counter_count(counter, &sample);
	counter_end_part(counter);
	return status == PERFDATA_END;
}

bool counting_run(struct counter *counter)
{
	struct session *session = counter->shared->session;
	struct counting counting = { .session = session,
				     .part_count = session_part_count(session) };

	if (!counting.part_count)
		return count_all(session, counter);
	count_in_threads(&counting, counter, thread_count(counting.part_count));
	return !counting.damaged;
}
