/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events by name, in perf's syntax (perf-list(1)), and how to open them:
 *
 *	cycles, cpu-clock, L1-dcache-load-misses      symbolic: hardware, software, cache
 *	r1a8                                          raw, hexadecimal
 *	cpu/event=0x3c,umask=0x1,period=10000/        a PMU's terms or named events (sysfs)
 *	kvm:kvm_exit, kvm:*                           tracepoints, with wildcards
 *	EVENT:MODIFIERS                               u k h (levels), G H (guest, host),
 *	                                              p (up to three) P (precise), I D e
 *
 *	{EVENT,EVENT…}:MODIFIERS                      a group, perhaps with a NAME before the brace;
 *	                                              also S (the first event samples all), W (weak)
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

/* A set of CPU modes, one bit per cpumode of samples: 1 << PERF_RECORD_MISC_KERNEL and so on. */
typedef uint8_t host_modes;
#define HOST_MODES_HOST                                                                            \
	((1 << PERF_RECORD_MISC_CPUMODE_UNKNOWN) | (1 << PERF_RECORD_MISC_KERNEL) |                \
	 (1 << PERF_RECORD_MISC_USER) | (1 << PERF_RECORD_MISC_HYPERVISOR))
#define HOST_MODES_GUEST ((1 << PERF_RECORD_MISC_GUEST_KERNEL) | (1 << PERF_RECORD_MISC_GUEST_USER))

struct host_event {
	struct perf_event_attr attr; /* type, config…, precise_ip, exclude_idle, pinned …, and
				      * freq or period if the event itself specifies them */
	char *name;                  /* as perf would show it; owned */
	bool software; /* counts in every mode: exclude_* bits do not work reliably */
	bool tracepoint;
	bool rate_set;     /* by a term period= or freq= */
	bool precise_best; /* :P, as precise as possible */
	bool levels_named; /* u, k or h was given; user, kernel and hypervisor say which */
	bool user, kernel, hypervisor;
	bool sides_named; /* G or H was given */
	bool guest, host;
	/*
	 * Events of a group are next to each other, and on the PMU at the same time. An event
	 * without a group has 0 here.
	 */
	uint32_t group_rank; /* 0: the group's leader; 1: the event after it … */
	uint32_t group_size; /* of the leader: of how many events, itself included */
	char *group_name;    /* of the leader; owned; NULL: the group has none */
	/* :S, of all events of a group or of one without: the leader's samples have their values */
	bool values_read;
	bool weak; /* :W, of the leader: if the group cannot be opened, it is none */
	char *filter; /* of a tracepoint: which hits count, in the kernel's words; owned; or NULL */
};

struct host_events {
	VECTOR(struct host_event) items;
};

/*
 * Appends the events in TEXT (separated by commas). An unknown event is ERROR_NOT_FOUND with a
 * hint, wrong syntax is ERROR_USAGE; EVENTS is then unchanged.
 */
struct error *host_events_parse(const char *text, struct host_events *events) MUST_CHECK;
void host_events_deinit(struct host_events *events);

/*
 * Decides what EVENT samples if GUEST and HOST are wanted; its own modifiers take precedence. Sets
 * the attr's exclude_* bits where they are reliable. They are not for software events, which ignore
 * exclude_host and from 6.13 on report samples of an excluded guest as the host's. *RET_MODES: the
 * modes whose samples are wanted; samples in other modes are only to be counted. Tracepoints fire
 * in the host and are always wanted.
 */
void host_event_set_modes(struct host_event *event, bool guest, bool host, host_modes *ret_modes);
/*
 * Sets the contents of samples, their clock, and that the event, or its group's leader, starts
 * disabled; not its rate.
 */
void host_event_set_sampling(struct host_event *event);
/* Whether samples of the host (or of guests) are possible with the current attr. */
bool host_event_sees_host(const struct host_event *event);
bool host_event_sees_guest(const struct host_event *event);
/*
 * Whether EVENT takes samples of its own; others are counted, for those of their group's leader.
 */
bool host_event_samples(const struct host_event *event);
/* Whether EVENT is cpu-clock or task-clock: a timer with its period in ns. */
bool host_event_is_clock(const struct host_event *event);

/* What EVENT does, while open, to VMs with such a vPMU; NULL: nothing. malloc()ed. */
char *host_event_harm(const struct host_event *event, enum host_vpmu vpmu);

/*
 * perf_event_open(2) with FD_CLOEXEC. Returns -1 and sets errno on error. If the kernel does not
 * know a bit that is only an improvement (PERF_FORMAT_LOST; precise_ip with :P), tries again
 * without it and changes ATTR. GROUP_FD: the leader of its group; -1: none.
 */
int host_event_open(struct perf_event_attr *attr, bool precise_best, pid_t tid, int cpu,
		    int group_fd);
/*
 * Opens EVENT on the calling thread, sets its filter, and closes it again, to find errors early,
 * and leaves in EVENT what can be opened. If a PMU cannot tell guests apart (EINVAL with
 * exclude_*), clears those bits; its samples are then filtered by their cpumode, like a software
 * event's.
 */
struct error *host_event_probe(struct host_event *event) MUST_CHECK;
/*
 * Adds FILTER to those that hits of EVENT must meet. It is an error if EVENT is no tracepoint.
 */
struct error *host_event_add_filter(struct host_event *event, const char *filter) MUST_CHECK;
/* Sets EVENT's filter, if it has one, for the open event FD. */
struct error *host_event_set_filter(const struct host_event *event, int fd) MUST_CHECK;
/* Likewise the whole group of LEADER. Dissolves it if that fails and it is weak. */
struct error *host_event_probe_group(struct host_event *leader) MUST_CHECK;
/* An error that explains ERRNO_VALUE, with a hint what to do. */
struct error *host_event_open_error(const struct host_event *event, int errno_value) MUST_CHECK;

#endif
