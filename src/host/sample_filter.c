/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads src/bpf/sample_filter.bpf.c and keeps its map of threads. */
#include "host/sample_filter.h"

#include "config.h"

#if HAVE_BPF
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "base/memory.h"
#include "host/bpf_log.h"
#include "host/capability.h"
#include "sample_filter.skel.h"

struct sample_filter {
	struct sample_filter_skeleton *skeleton;
	int program_fd, map_fd;
};

static uint64_t key_of(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

struct error *sample_filter_create(struct sample_filter **ret)
{
	struct sample_filter_skeleton *skeleton;
	struct sample_filter *filter;
	struct bpf_log log;

	/* The program sees the host's pids; perf gives those of our namespace. */
	if (!host_capability_initial_pids())
		return error_create(ERROR_UNSUPPORTED, "this is a container with its own pids");
	bpf_log_begin(&log);
	skeleton = sample_filter_skeleton__open_and_load();
	bpf_log_end();
	if (!skeleton)
		return bpf_log_error(&log, errno, "could not load the BPF filter");
	filter = memory_calloc(1, sizeof(*filter));
	filter->skeleton = skeleton;
	filter->program_fd = bpf_program__fd(skeleton->progs.filter_sample);
	filter->map_fd = bpf_map__fd(skeleton->maps.threads);
	*ret = filter;
	return NULL;
}

void sample_filter_destroy(struct sample_filter *filter)
{
	if (!filter)
		return;
	sample_filter_skeleton__destroy(filter->skeleton);
	free(filter);
}

bool sample_filter_attach(struct sample_filter *filter, int event_fd)
{
	return !ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, filter->program_fd);
}

bool sample_filter_add(struct sample_filter *filter, uint32_t pid, uint32_t tid)
{
	uint64_t key = key_of(pid, tid), none = 0;

	return !bpf_map_update_elem(filter->map_fd, &key, &none, BPF_ANY);
}

void sample_filter_remove(struct sample_filter *filter, uint32_t pid, uint32_t tid)
{
	uint64_t key = key_of(pid, tid);

	bpf_map_delete_elem(filter->map_fd, &key);
}

uint64_t sample_filter_passed(const struct sample_filter *filter, uint32_t pid, uint32_t tid)
{
	uint64_t key = key_of(pid, tid), passed = 0;

	bpf_map_lookup_elem(filter->map_fd, &key, &passed);
	return passed;
}

#else

struct error *sample_filter_create(struct sample_filter **ret)
{
	(void)ret;
	return error_create(ERROR_UNSUPPORTED, "BPF is not built in");
}

void sample_filter_destroy(struct sample_filter *filter)
{
	(void)filter;
}

bool sample_filter_attach(struct sample_filter *filter, int event_fd)
{
	(void)filter, (void)event_fd;
	return false;
}

bool sample_filter_add(struct sample_filter *filter, uint32_t pid, uint32_t tid)
{
	(void)filter, (void)pid, (void)tid;
	return false;
}

void sample_filter_remove(struct sample_filter *filter, uint32_t pid, uint32_t tid)
{
	(void)filter, (void)pid, (void)tid;
}

uint64_t sample_filter_passed(const struct sample_filter *filter, uint32_t pid, uint32_t tid)
{
	(void)filter, (void)pid, (void)tid;
	return 0;
}
#endif
