/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread waits until a scan is wanted, and keeps the finder to itself while it scans. */
#include "host/record/vm_scan.h"

#include <pthread.h>
#include <time.h>

#include "base/memory.h"

#define LAST_WAIT_SECONDS 1

struct vm_scan {
	struct host_vm_finder *finder; /* used by the thread while `wanted` */
	pthread_t thread;
	bool running;
	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t changed;
	bool wanted, done, stop;
	struct vm_scan_result result; /* if `done` */
};

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static struct vm_scan_result look(struct vm_scan *scan)
{
	struct vm_scan_result result = { 0 };
	uint64_t begin_ns = cpu_ns();

	result.error = host_vm_finder_scan(scan->finder, &result.vms);
	result.cost_ns = cpu_ns() - begin_ns;
	return result;
}

static void *run(void *context)
{
	struct vm_scan *scan = context;

	pthread_mutex_lock(&scan->lock);
	while (!scan->stop) {
		struct vm_scan_result result;

		if (!scan->wanted) {
			pthread_cond_wait(&scan->changed, &scan->lock);
			continue;
		}
		pthread_mutex_unlock(&scan->lock);
		result = look(scan);
		pthread_mutex_lock(&scan->lock);
		scan->result = result;
		scan->done = true;
		scan->wanted = false;
	}
	pthread_mutex_unlock(&scan->lock);
	return NULL;
}

struct vm_scan *vm_scan_create(void)
{
	struct vm_scan *scan = memory_calloc(1, sizeof(*scan));

	scan->finder = host_vm_finder_create();
	pthread_mutex_init(&scan->lock, NULL);
	pthread_cond_init(&scan->changed, NULL);
	return scan;
}

/* False: it hangs, and still uses SCAN. */
static bool join(struct vm_scan *scan)
{
	struct timespec until;

	pthread_mutex_lock(&scan->lock);
	scan->stop = true;
	pthread_cond_signal(&scan->changed);
	pthread_mutex_unlock(&scan->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LAST_WAIT_SECONDS;
	return !pthread_timedjoin_np(scan->thread, NULL, &until);
}

void vm_scan_destroy(struct vm_scan *scan)
{
	struct vm_scan_result last;

	if (!scan || (scan->running && !join(scan)))
		return;
	if (vm_scan_take(scan, &last)) {
		host_vms_deinit(&last.vms);
		error_destroy(last.error);
	}
	host_vm_finder_destroy(scan->finder);
	pthread_cond_destroy(&scan->changed);
	pthread_mutex_destroy(&scan->lock);
	free(scan);
}

struct error *vm_scan_now(struct vm_scan *scan, struct vm_scan_result *ret)
{
	struct vm_scan_result result = look(scan);

	if (!result.error)
		*ret = result;
	return result.error;
}

bool vm_scan_begin(struct vm_scan *scan)
{
	bool begun;

	pthread_mutex_lock(&scan->lock);
	begun = !scan->wanted && !scan->done;
	scan->wanted |= begun;
	pthread_cond_signal(&scan->changed);
	pthread_mutex_unlock(&scan->lock);
	if (!scan->running)
		scan->running = !pthread_create(&scan->thread, NULL, run, scan);
	return begun;
}

bool vm_scan_take(struct vm_scan *scan, struct vm_scan_result *ret)
{
	bool there;

	pthread_mutex_lock(&scan->lock);
	there = scan->done;
	if (there)
		*ret = scan->result;
	scan->done = false;
	pthread_mutex_unlock(&scan->lock);
	return there;
}
