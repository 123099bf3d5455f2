/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the engine, sizes the rings, waits, and passes on what the engine delivers.
 *
 * Ring size: a second of samples at the highest requested rate, within bounds, and all rings
 * together within RINGS_MAX_BYTES. Rings are drained when one is half full, and at least every few
 * hundred milliseconds, so this leaves room to spare. Memory for rings is locked: without
 * CAP_IPC_LOCK a user may lock perf_event_mlock_kb per CPU and RLIMIT_MEMLOCK. Rings are sized to
 * fit into that; if another program of the user has locked some of it, a slot halves its ring until
 * the kernel agrees.
 *
 * Descriptors: one per event and thread (or CPU). The soft limit is raised to the hard limit, and
 * the hard limit is raised where that is allowed.
 */
#include "host/capture/capture.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "base/progress.h"
#include "host/capture/capture_engine.h"
#include "host/system/capability.h"

#define SAMPLE_BYTES 64
#define RING_MIN_BYTES (32u << 10)
#define RING_MAX_BYTES (1u << 20)
#define RINGS_MAX_BYTES (128u << 20)
#define FILES_BESIDES 192 /* descriptors for everything else */

static const struct capture_engine *const engines[] = {
	&capture_threads_engine,
	&capture_cpus_engine,
};
#define ENGINE_COUNT (sizeof(engines) / sizeof(*engines))

/* Raises the limit of open files as far towards WANTED as allowed, and returns it. */
static size_t raise_open_files(size_t wanted)
{
	struct rlimit limit, raised;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 1024;
	raised = (struct rlimit){ .rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max };
	if (limit.rlim_max < wanted) {
		struct rlimit beyond = { .rlim_cur = wanted, .rlim_max = wanted };

		if (!setrlimit(RLIMIT_NOFILE, &beyond)) /* needs CAP_SYS_RESOURCE */
			return wanted;
	}
	return setrlimit(RLIMIT_NOFILE, &raised) ? limit.rlim_cur : raised.rlim_cur;
}

/* A second of samples at the highest rates, within bounds. */
static size_t ring_bytes_wanted(const struct capture_config *config)
{
	size_t rate = 0, all, bytes = sysconf(_SC_PAGESIZE);

	if (config->ring_bytes)
		return config->ring_bytes;
	for (size_t i = 0; i < config->event_count; i++)
		if (host_event_samples(&config->events[i]))
			rate += config->events[i].attr.freq ? config->events[i].attr.sample_freq
						    : RING_MAX_BYTES / SAMPLE_BYTES;
	all = rate > RING_MAX_BYTES / SAMPLE_BYTES ? RING_MAX_BYTES : rate * SAMPLE_BYTES;
	while (bytes < all || bytes < RING_MIN_BYTES)
		bytes *= 2;
	return bytes;
}

/*
 * Size of a sampler's ring for each CPU: its records are larger than perf's, and much larger with
 * stacks.
 */
static size_t sampler_ring_bytes(const struct capture_config *config)
{
	size_t cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t bytes = ring_bytes_wanted(config) * (config->stacks ? 16 : 2);

	while (bytes > RING_MIN_BYTES && bytes * cpus > RINGS_MAX_BYTES)
		bytes /= 2;
	return bytes;
}

static long long read_number(const char *path, long long otherwise)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	long long number;

	return file && fscanf(file, "%lld", &number) == 1 ? number : otherwise;
}

/* Bytes that may be locked for rings: kernel/events/core.c, perf_mmap(). */
static size_t locked_bytes_allowed(void)
{
	struct rlimit limit = { .rlim_cur = 0 };
	size_t allowed;

	if (host_capability_have(CAP_IPC_LOCK) ||
	    read_number("/proc/sys/kernel/perf_event_paranoid", 2) < 0)
		return SIZE_MAX;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	allowed = read_number("/proc/sys/kernel/perf_event_mlock_kb", 512) * 1024 *
		  sysconf(_SC_NPROCESSORS_ONLN);
	return limit.rlim_cur > SIZE_MAX / 2 ? SIZE_MAX : allowed + limit.rlim_cur;
}

void capture_size_rings(struct capture *capture, size_t rings)
{
	size_t page = sysconf(_SC_PAGESIZE), allowed = locked_bytes_allowed();
	size_t bytes = ring_bytes_wanted(&capture->config);

	if (!rings)
		rings = 1;
	while (!capture->config.ring_bytes && bytes > RING_MIN_BYTES &&
	       bytes * rings > RINGS_MAX_BYTES)
		bytes /= 2;
	while (bytes > page && (bytes + page) * rings > allowed) {
		bytes /= 2;
		capture->stats.ring_reduced = true;
	}
	capture->stats.ring_bytes = bytes;
}

/* Uses the cheapest engine that can be set up. If none can, returns the cheapest one's error. */
static struct error *choose_engine(struct capture *capture, size_t threads)
{
	bool tried[ENGINE_COUNT] = { false };
	struct error *first = NULL;

	for (;;) {
		size_t best = ENGINE_COUNT, best_cost = SIZE_MAX;
		struct error *error;

		for (size_t i = 0; i < ENGINE_COUNT; i++) {
			size_t cost = tried[i] ? SIZE_MAX : engines[i]->cost(capture, threads);

			if (cost < best_cost) {
				best_cost = cost;
				best = i;
			}
		}
		if (best == ENGINE_COUNT)
			return first ? first
				     : error_hint(error_create(
							  ERROR_SYSTEM,
							  "%zu threads need more open "
							  "files than this process may have (%zu)",
							  threads, capture->open_files_max),
						  "raise the limit: ulimit -n");
		tried[best] = true;
		capture->engine = engines[best];
		error = capture->engine->create(capture);
		if (!error) {
			error_destroy(first);
			return NULL;
		}
		if (first)
			error_destroy(error);
		else
			first = error;
	}
}

struct error *capture_create(const struct capture_config *config, struct capture **ret)
{
	struct capture *capture = memory_calloc(1, sizeof(*capture));
	size_t files = config->expected_threads * config->event_count + FILES_BESIDES;
	struct error *error;

	capture->config = *config;
	capture->rate_share = 1;
	sampling_budget_init(&capture->budget, config->max_overhead);
	capture->open_files_max = raise_open_files(2 * files) - FILES_BESIDES;
	capture->record = memory_alloc(RING_RECORD_MAX);
	capture->event_enabled =
		memory_calloc(config->event_count, sizeof(*capture->event_enabled));
	capture->values = memory_calloc(CAPTURE_VALUES(config->event_count),
					sizeof(*capture->values));
	buffer_init(&capture->callchain, RING_RECORD_MAX);
	map_init(&capture->by_tid);
	capture->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (capture->epoll_fd >= 0)
		capture_samplers_create(capture, sampler_ring_bytes(config));
	if (capture->epoll_fd < 0) {
		error = error_system(errno, "could not create an epoll descriptor");
	} else if (config->engine) {
		capture->engine = config->engine;
		error = capture->engine->create(capture);
	} else {
		error = choose_engine(capture, config->expected_threads);
	}
	if (error) {
		capture->engine = NULL;
		capture_destroy(capture);
		return error;
	}
	*ret = capture;
	return NULL;
}

void capture_destroy(struct capture *capture)
{
	if (!capture)
		return;
	if (capture->engine)
		capture->engine->destroy(capture);
	capture_samplers_destroy(capture);
	cleanup_close(&capture->epoll_fd);
	vector_deinit(&capture->threads);
	vector_deinit(&capture->received);
	vector_deinit(&capture->cost_seen);
	map_deinit(&capture->by_tid);
	buffer_deinit(&capture->callchain);
	free(capture->record);
	free(capture->event_enabled);
	free(capture->values);
	free(capture);
}

struct error *capture_add_thread(struct capture *capture, const struct capture_thread *thread,
				 size_t *ret)
{
	size_t index = capture->threads.count;
	bool gone = false;
	struct error *error;

	vector_append(&capture->threads, *thread);
	for (size_t i = 0; i < capture->config.event_count; i++) {
		vector_append(&capture->received, 0);
		vector_append(&capture->cost_seen, 0);
	}
	error = capture->engine->add_thread(capture, index, &gone);
	if (error)
		return error;
	if (!gone)
		*map_insert(&capture->by_tid, thread->tid, NULL) = index + 1;
	*ret = gone ? CAPTURE_NO_THREAD : index;
	return NULL;
}

void capture_remove_thread(struct capture *capture, size_t thread)
{
	uint64_t *entry = map_find(&capture->by_tid, capture->threads.items[thread].tid);

	capture->engine->remove_thread(capture, thread);
	if (entry && *entry == thread + 1)
		*entry = 0;
}

static void apply_enabled(struct capture *capture)
{
	bool before = capture->enabled;

	capture->enabled = false;
	for (size_t i = 0; i < capture->config.event_count; i++)
		capture->enabled |= capture->event_enabled[i];
	if (!before)
		capture->budget_ns = clock_monotonic_ns();
	if (capture->enabled)
		capture->engine->enable(capture);
	else if (before)
		capture->engine->disable(capture);
}

struct error *capture_enable(struct capture *capture)
{
	for (size_t i = 0; i < capture->config.event_count; i++)
		capture->event_enabled[i] = true;
	apply_enabled(capture);
	return NULL;
}

void capture_set_enabled(struct capture *capture, size_t event, bool enabled)
{
	if (capture->event_enabled[event] == enabled)
		return;
	capture->event_enabled[event] = enabled;
	apply_enabled(capture);
}

bool capture_is_enabled(const struct capture *capture)
{
	return capture->enabled;
}

bool capture_watch(struct capture *capture, int fd)
{
	struct epoll_event interest = { .events = EPOLLIN };

	return !epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD, fd, &interest);
}

void capture_unwatch(struct capture *capture, int fd)
{
	epoll_ctl(capture->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void capture_wait(struct capture *capture, int timeout_ms)
{
	struct epoll_event events[64];
	int count = epoll_wait(capture->epoll_fd, events, 64, timeout_ms);

	for (int i = 0; i < count; i++) {
		/* NULL: a sampler's ring, or what is watched */
		struct capture_slot *slot = events[i].data.ptr;

		if (slot && events[i].events & (EPOLLHUP | EPOLLERR))
			slot->hung_up = true;
	}
}

void capture_drain(struct capture *capture)
{
	capture->engine->drain(capture);
	capture_samplers_drain(capture);
}

void capture_finish(struct capture *capture)
{
	if (capture->enabled)
		capture->engine->disable(capture);
	capture_drain(capture);
	capture->engine->finish(capture);
}

struct capture_stats capture_stats(const struct capture *capture)
{
	return capture->stats;
}

const char *capture_description(const struct capture *capture)
{
	return capture->engine->description(capture);
}

void capture_deliver(struct capture *capture, size_t event, size_t thread,
		     const struct perfdata_sample *sample, const struct capture_guest *guest,
		     const uint64_t *counts)
{
	capture->received.items[thread * capture->config.event_count + event]++;
	capture->config.sink.sample(capture->config.sink.context, event, thread, sample, guest,
				    counts);
}

void capture_report_lost(struct capture *capture, size_t event, size_t thread, uint64_t count,
			 uint64_t time_ns)
{
	if (count)
		capture->config.sink.lost(capture->config.sink.context, event, thread, count,
					  time_ns);
}
