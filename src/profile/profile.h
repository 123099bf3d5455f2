/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flat profile: samples counted by the keys that were asked for, one profile for each
 * event, and the totals, in which every sample is in exactly one place.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/resolver.h"
#include "session/session.h"

#define PROFILE_HOST_COMM (TIMELINE_NO_COMM - 1) /* the guest's comm of a host's sample */
#define PROFILE_NO_PID UINT32_MAX

enum profile_key {
	PROFILE_VM,
	PROFILE_VCPU,
	PROFILE_COMM,
	PROFILE_PID,
	PROFILE_GUEST_COMM,
	PROFILE_GUEST_PID,
	PROFILE_DSO,
	PROFILE_MODE,
	PROFILE_SYMBOL,
	PROFILE_KEY_COUNT,
};

/* Keys in the order in which their columns stand. */
struct profile_keys {
	enum profile_key items[PROFILE_KEY_COUNT];
	size_t count;
};

bool profile_keys_have(const struct profile_keys *keys, enum profile_key key);
void profile_keys_add(struct profile_keys *keys, enum profile_key key); /* once is enough */

/* Fields that are no key are 0 or NULL; symbol rows have a location, dso rows, too. */
struct profile_row {
	uint64_t period, count;
	uint64_t children; /* period of samples with it anywhere in their chain, its own included */
	const struct machine *vm; /* NULL: the host's own */
	uint32_t vcpu;		  /* PERFDATA_NO_VCPU: not known, or no VM's */
	uint32_t comm;		  /* strings; TIMELINE_NO_COMM: none, shown as ":TID" */
	uint32_t pid, tid;	  /* tid of a row without a comm */
	uint32_t guest_comm;	  /* strings; TIMELINE_NO_COMM: not known; PROFILE_HOST_COMM */
	uint32_t guest_pid;	  /* of the guest's process; PROFILE_NO_PID: not known, or host's */
	/* PERF_RECORD_MISC_*: host or guest, kernel or user; CPUMODE_GUESSED */
	uint16_t cpumode;
	uint32_t dso;		  /* string: its short name; of symbol and dso rows */
	uint32_t location;	  /* one of those that are the same by these keys */
	uint32_t number;	  /* unique in the profile: what nodes of call trees name it by */
	uint32_t depth;		  /* where it is nearest to the start of its chains; from 1 on */
};

struct profile_event {
	const char *name;
	uint64_t samples;
	uint64_t period; /* of all rows: what percentages are of */
	/* By period (by children where there are chains), the highest first. */
	VECTOR(struct profile_row) rows;
};

/* Samples of all events. Every one is in exactly one of these. */
struct profile_totals {
	uint64_t host, guest_kernel, guest_user, unattributed; /* in the file */
	uint64_t nested, at_exit; /* of guest_kernel and guest_user: see perfdata/inventory.h */
	uint64_t host_counted, guest_counted; /* taken and counted, but not written to the file */
	uint64_t lost;
	/* Of guest_kernel and guest_user in a recording with guests' call chains: how they end. */
	uint64_t chain_ends[PERFDATA_CHAIN_ENDS];
	bool host_sampled, guest_sampled; /* false: the event cannot see them: "not sampled" */
};

struct profile {
	struct session *session; /* borrowed */
	struct resolver *resolver;
	struct profile_event *events;
	size_t event_count;
	size_t row_count; /* of all events: their numbers are less */
	struct calltree *tree; /* NULL: chains were not asked for */
	struct profile_totals totals;
	bool damaged; /* the file ended before its time: see perfdata_reader_error() */
};

struct profile_options {
	struct profile_keys keys;
	bool chains;   /* count call chains, too: the tree … */
	bool lone;     /* … a sample without a chain standing there by its function … */
	bool children; /* … and, with it, children of the rows: they are 0 else */
	/*
	 * No rows, and functions told apart by file and name; all of a file without a name is one.
	 */
	bool by_name;
	/* Only samples of these VMs (and totals of them); NULL, 0: all. */
	const struct machine *const *vms;
	size_t vm_count;
};

/* Whether samples of an event of SESSION have call chains. */
bool profile_has_chains(const struct session *session);

/* Reads all samples of SESSION. */
struct profile *profile_create(struct session *session, const struct profile_options *options);
void profile_destroy(struct profile *profile); /* takes NULL */

/* What ROW's guest_comm is called: "[unknown]" and "[host]" where it is no thread's. */
const char *profile_guest_comm(const struct profile *profile, const struct profile_row *row);

uint64_t profile_totals_sum(const struct profile_totals *totals);

DEFINE_CLEANUP(cleanup_profile, struct profile *, profile_destroy)
#define _cleanup_profile_ _cleanup_(cleanup_profile)

#endif
