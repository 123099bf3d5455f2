/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_event_open(2): what to leave out if a kernel does not know it, and what its errors mean
 * (kernel/events/core.c; perf explains them much the same way in tools/perf/util/evsel.c,
 * evsel__open_strerror).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/event/event.h"
#include "base/log.h"
#include "base/memory.h"
#include "host/system/capability.h"
#include "host/system/kvm.h"

static int open_once(struct perf_event_attr *attr, pid_t tid, int cpu, int group_fd)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
}

int host_event_open(struct perf_event_attr *attr, bool precise_best, pid_t tid, int cpu,
		    int group_fd)
{
	int fd;

	if (precise_best)
		attr->precise_ip = 3;
	for (;;) {
		fd = open_once(attr, tid, cpu, group_fd);
		if (fd >= 0)
			return fd;
		/* PMUs differ in how they reject too high a precision: EOPNOTSUPP, EINVAL, … */
		if (precise_best && attr->precise_ip && errno != EACCES && errno != EPERM &&
		    errno != ESRCH && errno != EMFILE) {
			attr->precise_ip--;
			continue;
		}
		if (errno != EINVAL || !(attr->read_format & PERF_FORMAT_LOST))
			return -1;
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST; /* since Linux 6.0 */
		if (precise_best)
			attr->precise_ip = 3;
	}
}

/* Returns 0 or an errno. *RET_FILTER: its filter is wrong. */
static int try_open(struct host_event *event, struct error **ret_filter)
{
	int fd = host_event_open(&event->attr, event->precise_best, 0, -1, -1);

	if (fd < 0)
		return errno;
	*ret_filter = host_event_set_filter(event, fd);
	close(fd);
	return 0;
}

struct error *host_event_probe(struct host_event *event)
{
	struct host_event plain = *event;
	struct error *filter = NULL;
	int errno_value = try_open(event, &filter);

	if (!errno_value)
		return filter;
	if (errno_value == EINVAL && (event->attr.exclude_host || event->attr.exclude_guest)) {
		plain.attr.exclude_host = plain.attr.exclude_guest = 0;
		if (!try_open(&plain, &filter)) {
			event->attr = plain.attr;
			return filter;
		}
	}
	return host_event_open_error(event, errno_value);
}

static void dissolve(struct host_event *leader)
{
	for (size_t i = leader->group_size; i-- > 1;)
		leader[i].group_rank = 0;
	leader->group_size = 0;
}

struct error *host_event_probe_group(struct host_event *leader)
{
	size_t size = leader->group_size, opened = 0;
	_cleanup_free_ int *fds = memory_calloc(size + 1, sizeof(*fds));
	int errno_value = 0;

	for (; opened < size; opened++) {
		struct perf_event_attr attr = leader[opened].attr;

		fds[opened] = host_event_open(&attr, false, 0, -1, opened ? fds[0] : -1);
		if (fds[opened] < 0)
			break;
	}
	if (opened < size)
		errno_value = errno;
	for (size_t i = 0; i < opened; i++)
		close(fds[i]);
	if (!errno_value)
		return NULL;
	if (leader->weak) {
		log_note("the events from '%s' to '%s' are sampled without a group: the kernel "
			 "does not open '%s' in it", leader->name, leader[size - 1].name,
			 leader[opened].name);
		dissolve(leader);
		return NULL;
	}
	return error_hint(error_system(errno_value, "could not open '%s' in the group of '%s'",
				       leader[opened].name, leader->name),
			  "a group needs counters for all its events at once, of one PMU; with the "
			  "modifier W it is none where that fails");
}

static int read_paranoid(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level;

	return file && fscanf(file, "%d", &level) == 1 ? level : 2;
}

/* Debian's and Ubuntu's kernels have a level 3, where CAP_PERFMON is not enough. */
#define PARANOID_ADMIN 3

static struct error *permission_error(const struct host_event *event, int errno_value)
{
	int level = read_paranoid();
	struct error *error = error_system(
		errno_value, "no permission to sample '%s' (perf_event_paranoid is %d)",
		event->name, level);

	if (level >= PARANOID_ADMIN && host_capability_perf())
		return error_hint(error,
				  "at level %d this kernel requires CAP_SYS_ADMIN: run as root, "
				  "or 'sysctl kernel.perf_event_paranoid=2' and grant the rights "
				  "that 'perfvisor doctor' names",
				  level);
	return error_hint(error, "run as root; 'perfvisor doctor' shows how else to grant the "
			  "rights");
}

static struct error *unsupported_error(const struct host_event *event, int errno_value)
{
	struct error *error =
		error_system(errno_value, "this host cannot sample '%s'", event->name);

	if (!event->software && host_kvm_mediated_pmu())
		return error_hint(error,
				  "a VM has a mediated vPMU: hardware events that see guests "
				  "cannot be opened while it runs; use -e cpu-clock");
	if (event->attr.precise_ip)
		return error_hint(error, "try without the modifier p");
	if (!event->software)
		return error_hint(error, "it may have no suitable PMU (many clouds have none); "
					 "-e cpu-clock works everywhere");
	return error_hint(error, "'perf list' shows the events of this host");
}

struct error *host_event_open_error(const struct host_event *event, int errno_value)
{
	switch (errno_value) {
	case EACCES:
	case EPERM:
		return permission_error(event, errno_value);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return unsupported_error(event, errno_value);
	case EINVAL:
		return error_hint(
			error_system(errno_value, "the kernel rejects event '%s'",
				     event->name),
			"this CPU may not support its config, period or modifiers; events "
			"of an uncore PMU cannot be sampled");
	case EMFILE:
	case ENFILE:
		return error_hint(error_system(errno_value, "could not open event '%s' again",
					       event->name),
				  "raise the limit of open files (ulimit -n), or record fewer VMs");
	case EBUSY:
		return error_hint(
			error_system(errno_value, "could not open event '%s'", event->name),
			"another profiler may be using the PMU exclusively");
	}
	return error_system(errno_value, "could not open event '%s'", event->name);
}
