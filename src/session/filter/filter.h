/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which samples of a recording are wanted: conditions that a sample must all meet. Of a list one
 * element must hold; an empty list is no condition. What they mean is what they mean to `perf
 * report` and `perf script` (tools/perf/util/event.c, machine__resolve(), and
 * thread__is_filtered()).
 */
#ifndef SESSION_FILTER_H
#define SESSION_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "base/ranges.h"
#include "session/context.h"
#include "session/resolver.h"
#include "session/session.h"

struct machine_list {
	const struct machine **items;
	size_t count;
	size_t capacity;
};

struct filter {
	bool any; /* there is a condition at all */
	struct machine_list vms;
	struct ranges vcpus, pids, tids, cpus;
	struct ranges times; /* ns; as of filter_parse_times() */
	struct string_list comms, dsos; /* dsos by path or by short name */
	struct string_list symbols;	 /* the function's name is one of these, or … */
	struct ranges addresses;	 /* … the sample's address is, as perf has it */
	struct string_list symbol_parts; /* one is in the function's name, anywhere */
	bool places;	   /* there is a condition on addresses: symbols, dsos */
	uint32_t cpumodes; /* a bit for each PERF_RECORD_MISC_* that is wanted; 0: all */
	struct arena *texts; /* what was made for the lists; owned */
};

/* Frees the lists; the filter itself is the caller's. */
void filter_deinit(struct filter *filter);

/*
 * TEXT as of perf's --time (tools/perf/util/time-utils.c): "START,END" in seconds, one of which may
 * be left out, or several of these, separated by blanks; "10%-20%,40%-50%", "10%/2,10%/4" or
 * "30%" of the time from the recording's first sample to its last. False: it is none of these.
 */
struct filter_span {
	uint64_t first_ns, last_ns; /* of the recording's samples */
};
/*
 * The times of the first sample and the last: what the header says, else what is in the file, which
 * is then read. Not for a session without times.
 */
struct filter_span filter_find_span(struct session *session);
bool filter_parse_times(const char *text, const struct filter_span *span,
			struct ranges *ret) MUST_CHECK;

/* Whether samples of VM, which may be NULL, can be wanted; FILTER NULL: all are. */
bool filter_takes_vm(const struct filter *filter, const struct machine *vm);

/* A filter in use by one thread. */
struct filtering {
	const struct filter *filter;
	struct resolver *resolver; /* the thread's */
	VECTOR(uint8_t) places;	   /* what is known of each location */
};

enum filter_verdict {
	FILTER_TAKES,
	FILTER_OUTSIDE,	   /* at another time, or on another CPU */
	FILTER_LEAVES_OUT, /* it does not meet another condition */
};

/* Both are borrowed. */
void filtering_init(struct filtering *filtering, const struct filter *filter,
		    struct resolver *resolver);
void filtering_deinit(struct filtering *filtering);

/* SAMPLE is valid, and CONTEXT its context, with which the answer is kept as far as it goes. */
enum filter_verdict filtering_judge(struct filtering *filtering, struct session *session,
				    const struct session_sample *sample, struct context *context);

#endif
