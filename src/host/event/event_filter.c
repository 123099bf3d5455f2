/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters of tracepoints, in the kernel's own words ("exit_reason == 12 && vcpu_id < 2",
 * Documentation/trace/events.rst). Several are combined as in perf (evsel__append_tp_filter() in
 * tools/perf/util/evsel.c). The kernel says no more of a wrong one than that it is invalid.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

#include "host/event/event.h"
#include "host/event/tracefs.h"

struct error *host_event_add_filter(struct host_event *event, const char *filter)
{
	char *both;

	if (!event->tracepoint)
		return error_hint(error_create(ERROR_USAGE,
					       "--filter is for tracepoints, and '%s' is none",
					       event->name),
				  "it follows their -e: -e kvm:kvm_exit --filter 'vcpu_id == 0'");
	both = event->filter ? memory_printf("(%s) && (%s)", event->filter, filter)
			     : memory_strdup(filter);
	free(event->filter);
	event->filter = both;
	return NULL;
}

struct error *host_event_set_filter(const struct host_event *event, int fd)
{
	const char *root = tracefs_find(), *colon = strchr(event->name, ':');
	struct error *error;

	if (!event->filter || !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, event->filter))
		return NULL;
	error = error_system(errno, "the kernel does not take the filter '%s' for '%s'",
			     event->filter, event->name);
	if (errno != EINVAL || !root || !colon)
		return error;
	return error_hint(error, "%s/events/%.*s/%s/format lists the event's fields; example: "
			  "'common_pid == 1'", root, (int)(colon - event->name), event->name,
			  colon + 1);
}
