/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The branches in the samples of `perf record -b`, counted: each counts once, whatever the period
 * of its sample, as in perf (tools/perf/util/hist.c, iter_add_next_branch_entry()).
 */
#ifndef PROFILE_BRANCHES_H
#define PROFILE_BRANCHES_H

#include "base/vector.h"
#include "session/filter/filter.h"
#include "session/resolver.h"
#include "session/session.h"

enum branch_key {
	BRANCH_COMM,
	BRANCH_DSO_FROM,
	BRANCH_DSO_TO,
	BRANCH_SYMBOL_FROM,
	BRANCH_SYMBOL_TO,
	BRANCH_MISPREDICT,
	BRANCH_CYCLES,
	BRANCH_KEYS,
};

struct branch_keys {
	enum branch_key items[BRANCH_KEYS];
	size_t count;
};

/* Where a branch starts or ends. */
struct branch_end {
	uint64_t ip;	   /* 0: the function has a name */
	uint32_t location; /* of the resolver, + 1; 0: nothing is known of the address */
	uint32_t dso;	   /* its name, a string of the session */
	bool kernel;
};

/* What is not a key is 0. */
struct branch_row {
	uint64_t count;
	uint32_t event;
	uint32_t comm; /* TIMELINE_NO_COMM: not known */
	uint32_t tid;  /* where it is not */
	struct branch_end from, to;
	uint16_t cycles;
	bool mispredicted, predicted;
};

struct branches {
	struct session *session;   /* borrowed */
	struct resolver *resolver;
	VECTOR(struct branch_row) rows; /* by event; of an event, the most frequent first */
};

/* Whether a recording has branches that are no call chains. */
bool branches_are_recorded(const struct session *session);

/* Reads all samples of SESSION, and counts the branches of those that FILTER takes. */
void branches_count(struct session *session, const struct branch_keys *keys,
		    const struct filter *filter, struct branches *ret);
void branches_deinit(struct branches *branches);

#endif
