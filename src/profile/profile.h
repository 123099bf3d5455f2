/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flat profile: samples counted by the chosen keys, one profile per event, and the totals,
 * where every sample is counted in exactly one place.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/filter.h"
#include "session/resolver.h"
#include "session/session.h"

#define PROFILE_HOST_COMM (TIMELINE_NO_COMM - 1) /* the guest's comm of a host's sample */
#define PROFILE_NO_PID UINT32_MAX
#define PROFILE_NO_CPU UINT32_MAX

#define PROFILE_TEXTS 6

enum profile_key {
	PROFILE_VM,
	PROFILE_VCPU,
	PROFILE_COMM,
	PROFILE_PID,
	PROFILE_TID,
	PROFILE_GUEST_COMM,
	PROFILE_GUEST_PID,
	PROFILE_DSO,
	PROFILE_MODE,
	PROFILE_CPU,
	PROFILE_TIME,
	PROFILE_SYMBOL,
	PROFILE_SOURCE,
	PROFILE_TEXT, /* and those that follow: what struct profile_texts has */
	PROFILE_TEXT_LAST = PROFILE_TEXT + PROFILE_TEXTS - 1,
	PROFILE_KEY_COUNT,
};

/* Further keys: texts that samples have, such as the fields of tracepoints. */
struct profile_texts {
	const char *words[PROFILE_TEXTS], *titles[PROFILE_TEXTS];
	size_t count;
	/*
	 * Appends text INDEX of SAMPLE, as it is in the recording and without its terminating zero;
	 * nothing if the sample has none. Called under the session's lock.
	 */
	void (*append)(void *data, size_t index, const struct session_sample *sample,
		       struct buffer *out);
	void *data;
};

/* Keys in the order of their columns. */
struct profile_keys {
	enum profile_key items[PROFILE_KEY_COUNT];
	size_t count;
};

bool profile_keys_have(const struct profile_keys *keys, enum profile_key key);
/* adding it again does nothing */
void profile_keys_add(struct profile_keys *keys, enum profile_key key);

/* Fields that are not keys are 0 or NULL; symbol rows and dso rows have a location. */
struct profile_row {
	uint64_t period, count;
	/* period of samples with it anywhere in their chain, including its own */
	uint64_t children;
	const struct machine *vm; /* NULL: the host itself */
	uint32_t vcpu;		  /* PERFDATA_NO_VCPU: not known, or not a VM's */
	uint32_t comm;		  /* string; TIMELINE_NO_COMM: none, shown as ":TID" */
	uint32_t pid, tid;	  /* tid: of a row without a comm */
	uint32_t guest_comm;	  /* string; TIMELINE_NO_COMM: not known; or PROFILE_HOST_COMM */
	uint32_t guest_pid; /* of the guest's process; PROFILE_NO_PID: not known, or the host's */
	/* PERF_RECORD_MISC_*: host or guest, kernel or user; CPUMODE_GUESSED */
	uint16_t cpumode;
	uint32_t cpu;		  /* PROFILE_NO_CPU: samples do not say */
	uint64_t time_ns;	  /* when the quantum of time began */
	uint32_t dso;		  /* string: its short name; for symbol and dso rows */
	uint32_t texts[PROFILE_TEXTS]; /* strings; 0: none */
	uint32_t location;	  /* one of the locations that are the same by these keys */
	uint32_t number;	  /* unique in the profile; nodes of call trees refer to it */
	uint32_t depth;		  /* its smallest distance from the start of a chain; from 1 on */
	/* Periods of these events of its event's group, in rows with the same keys; 0: no option */
	uint64_t cycles, instructions;
};

/* The part of a row's samples that was taken in one quantum of time. */
struct profile_slice {
	uint32_t row; /* its number */
	uint64_t time_ns; /* when the quantum began */
	uint64_t period, count;
};

struct profile_event {
	const char *name;
	uint64_t samples;
	uint64_t period; /* of all rows */
	uint64_t total_samples, total_period; /* what percentages are of */
	/* Sorted by period (by children if there are chains), highest first. */
	VECTOR(struct profile_row) rows;
	/* If times are apart: those of a row may be anywhere, also several of the same time. */
	VECTOR(struct profile_slice) slices;
};

/* When a sample was taken, in which mode, and where its chain ends. */
struct profile_sample {
	uint64_t time_ns, period;
	uint32_t node; /* of the call tree; its root says whose it is, and of which event */
	uint16_t cpumode; /* PERF_RECORD_MISC_* */
};

/* Samples of all events. Each sample is in exactly one of these. */
struct profile_totals {
	uint64_t host, guest_kernel, guest_user, unattributed; /* in the file */
	/* part of guest_kernel and guest_user: see perfdata/inventory.h */
	uint64_t nested, at_exit;
	uint64_t host_counted, guest_counted; /* taken and counted, but not written to the file */
	uint64_t lost;
	uint64_t filtered; /* of all of these, what is not in them since a filter leaves it out */
	/*
	 * How chains of guest_kernel and guest_user end, in a recording with guests' call chains.
	 */
	uint64_t chain_ends[PERFDATA_CHAIN_ENDS];
	/* at least so many samples lack callers in the call tree, which would be too large */
	uint64_t chains_cut;
	bool host_sampled, guest_sampled; /* false: the event cannot see them: "not sampled" */
};

struct profile {
	struct session *session; /* borrowed */
	struct resolver *resolver;
	struct profile_event *events;
	size_t event_count;
	size_t row_count; /* of all events: all row numbers are lower */
	struct calltree *tree; /* NULL: chains were not wanted */
	VECTOR(struct profile_sample) samples; /* by time; none if they were not wanted */
	struct profile_totals totals;
	const struct profile_texts *texts; /* of the options */
	bool damaged; /* the file ended early or is damaged: see perfdata_reader_error() */
};

struct profile_options {
	struct profile_keys keys;
	uint64_t time_quantum_ns;  /* of PROFILE_TIME; 0: perf's, 100 ms */
	/* With PROFILE_TIME, without chains: rows are of all times, and have slices. */
	bool times_apart;
	struct profile_keys first; /* of them: rows are sorted by these before their share */
	bool chains;   /* count call chains, too: the tree … */
	bool inlined; /* … with inlined functions, which then have rows of their own … */
	size_t max_stack; /* … of at most so many functions, the innermost; 0: as many as kept … */
	bool lone;     /* … where a sample without a chain is represented by its function … */
	bool ipc;      /* count cycles and instructions of rows */
	bool children; /* … and, with the tree, children of the rows: otherwise they are 0 */
	/*
	 * No rows; functions are distinguished by file and name, and everything without a name in a
	 * file is one.
	 */
	bool by_name;
	const struct profile_texts *texts; /* NULL: none is a key. Borrowed by the profile */
	bool unnamed_alike; /* without chains: rows of a file's code without a name are one */
	bool samples; /* with by_name: also list each sample, in 24 bytes */
	const struct filter *filter; /* which samples to count; NULL: all. Borrowed */
	/* Percentages are of those that the filter leaves out, too, but for their time or CPU. */
	bool absolute;
};

/* Whether samples of some event of SESSION have call chains. */
bool profile_has_chains(const struct session *session);

/* Whether some group of events has cycles and instructions. */
bool profile_has_ipc(const struct session *session);

/* Reads all samples of SESSION. */
struct profile *profile_create(struct session *session, const struct profile_options *options);
void profile_destroy(struct profile *profile); /* takes NULL */

/* The name for ROW's guest_comm: "[unknown]" or "[host]" if it is not a thread's. */
const char *profile_guest_comm(const struct profile *profile, const struct profile_row *row);

uint64_t profile_totals_sum(const struct profile_totals *totals);
/* Adds samples that were counted: all but what was not written, and lost. */
void profile_totals_add(struct profile_totals *totals, const struct profile_totals *more);

DEFINE_CLEANUP(cleanup_profile, struct profile *, profile_destroy)
#define _cleanup_profile_ _cleanup_(cleanup_profile)

#endif
