/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events by name, in perf's syntax (perf-list(1)), and opening them:
 *
 *	cycles, cpu-clock, L1-dcache-load-misses      symbolic: hardware, software, cache
 *	r1a8                                          raw, hexadecimal
 *	cpu/event=0x3c,umask=0x1,period=10000/        a PMU's terms or named events (sysfs)
 *	kvm:kvm_exit, kvm:*                           tracepoints, with wildcards
 *	EVENT:MODIFIERS                               u k h (levels), G H (guest, host),
 *	                                              p (up to three) P (precise), I D e
 *
 * Groups ({a,b}) and their modifiers S and W are an error: events are sampled one by one.
 */
#ifndef HOST_EVENT_EVENT_H
#define HOST_EVENT_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vector.h"
#include "host/system/kvm.h"

/* A set of CPU modes, by the cpumode of samples: 1 << PERF_RECORD_MISC_KERNEL and so on. */
typedef uint8_t host_modes;
#define HOST_MODES_HOST                                                                            \
	((1 << PERF_RECORD_MISC_CPUMODE_UNKNOWN) | (1 << PERF_RECORD_MISC_KERNEL) |                \
	 (1 << PERF_RECORD_MISC_USER) | (1 << PERF_RECORD_MISC_HYPERVISOR))
#define HOST_MODES_GUEST ((1 << PERF_RECORD_MISC_GUEST_KERNEL) | (1 << PERF_RECORD_MISC_GUEST_USER))

struct host_event {
	struct perf_event_attr attr; /* type, config…, precise_ip, exclude_idle, pinned … and
				      * freq or period where the event itself says so */
	char *name;                  /* as perf would show it; owned */
	bool software; /* counts whatever the CPU does: exclude_* bits do not tell its modes */
	bool tracepoint;
	bool rate_set;     /* by a term period= or freq= */
	bool precise_best; /* :P, as precise as it goes */
	bool levels_named; /* u, k or h was given: the levels in user, kernel, hv */
	bool user, kernel, hypervisor;
	bool sides_named; /* G or H was given */
	bool guest, host;
};

struct host_events {
	VECTOR(struct host_event) items;
};

/* Appends the event or events (separated by commas) in TEXT. An unknown one is ERROR_NOT_FOUND
 * with a hint, wrong syntax ERROR_USAGE; EVENTS is as before then. */
struct error *host_events_parse(const char *text, struct host_events *events) MUST_CHECK;
void host_events_deinit(struct host_events *events);

/*
 * Decides what EVENT samples when GUEST and HOST are asked for, unless its own modifiers say:
 * sets the attr's exclude_* bits where they can be relied on (not for software events: those
 * ignore exclude_host, and from 6.13 on give guest samples of an excluded guest out as the
 * host's). *RET_MODES: the modes whose samples are wanted; others are to be counted only.
 * Tracepoints happen in the host and are always wanted.
 */
void host_event_set_modes(struct host_event *event, bool guest, bool host, host_modes *ret_modes);
/* What a sample says, by which clock, and that the event waits to be enabled; not its rate. */
void host_event_set_sampling(struct host_event *event);
/* Whether samples of the host (of guests) can come at all, with the attr as it is now. */
bool host_event_sees_host(const struct host_event *event);
bool host_event_sees_guest(const struct host_event *event);
/* Whether it is cpu-clock or task-clock: a timer, whose period is in ns. */
bool host_event_is_clock(const struct host_event *event);

/* What EVENT, while it is open, does to VMs that have such a vPMU; NULL: nothing. malloc()ed. */
char *host_event_harm(const struct host_event *event, enum host_vpmu vpmu);

/*
 * perf_event_open(2), with FD_CLOEXEC. -1 with errno. Where the kernel does not know a bit that
 * only makes things better (PERF_FORMAT_LOST; precise_ip with :P), tries again without and
 * changes ATTR.
 */
int host_event_open(struct perf_event_attr *attr, bool precise_best, pid_t tid, int cpu);
/*
 * Opens EVENT on the calling thread and closes it again: gives the reason early, and leaves in
 * EVENT what can be opened. Where a PMU knows nothing of guests (EINVAL with exclude_*), those
 * bits are cleared: its samples are then told apart by their cpumode, as a software event's.
 */
struct error *host_event_probe(struct host_event *event) MUST_CHECK;
/* Why it failed with ERRNO_VALUE, and what to do about it. */
struct error *host_event_open_error(const struct host_event *event, int errno_value) MUST_CHECK;

#endif
