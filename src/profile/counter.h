/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts samples in one thread. Several counters may share what they find (struct counter_shared)
 * and be merged afterwards. Part of profile.c.
 */
#ifndef PROFILE_COUNTER_H
#define PROFILE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/chains.h"
#include "profile/groups.h"
#include "profile/profile.h"
#include "profile/profile_rows.h"
#include "session/context.h"
#include "session/user_chain.h"

struct counter_shared {
	struct session *session;
	const struct profile_options *options;
	struct groups groups;
	struct chain_frames frames; /* of call chains, if they are counted */
	size_t event_count;
	bool guest_chains; /* each guest sample has a chain with an end */
};

#define COUNTER_BATCH 32

struct counter_pending {
	/* where it was taken: what is to be looked up */
	struct machine *machine;
	struct space *space;
	uint64_t ip, time;
	struct lookup lookup;
	uint64_t key, period;
	uint64_t quantum_ns; /* if times are apart, when its quantum of time began */
	uint32_t group;
	uint16_t cpumode;
	struct chains_end end; /* of its call chain, if chains are counted */
};

/* Samples that a filter left out, but not for their time or CPU. */
struct left_out {
	uint64_t samples, period;
};

/* The groups of a context's samples at one time, on one CPU, with the same texts. */
struct counter_moment {
	uint32_t row, chain_row; /* of the context; 0: an empty entry */
	uint32_t cpu;
	uint64_t time_ns;
	uint32_t texts[PROFILE_TEXTS];
	uint32_t groups[2]; /* likewise, with time, CPU and texts */
};

#define COUNTER_MOMENTS 1024
#define COUNTER_FIRST_CAPACITY 4096

struct counter {
	struct counter_shared *shared;
	struct resolver *resolver;
	struct context_cache *contexts;
	struct user_chains *user_chains;
	struct profile_cell *cells;
	size_t capacity, count; /* capacity is a power of two */
	/* samples whose address has not been looked up yet */
	struct counter_pending pending[COUNTER_BATCH];
	size_t pending_count;
	struct chains *chains; /* NULL: not wanted */
	VECTOR(struct profile_stray) strays;
	VECTOR(struct profile_moment) samples; /* in the order in which they were counted */
	VECTOR(struct profile_cell_slice) slices; /* of the cells, if times are apart */
	struct profile_totals totals;
	struct counter_moment *moments; /* a cache; NULL: time, CPU and texts are no keys */
	bool by_time, by_cpu; /* these are keys of groups */
	uint64_t quantum_ns; /* when the last quantum of time began; 0 without the key */
	struct buffer text; /* scratch memory */
	bool filters; /* else there is no filter */
	struct filtering filtering;
	struct left_out *left_out; /* of each event */
	uint64_t now; /* incremented with each group that is looked up */
};

/* SHARED and RESOLVER are borrowed; the resolver must not be used by others. */
void counter_init(struct counter *counter, struct counter_shared *shared,
		  struct resolver *resolver);
void counter_deinit(struct counter *counter);

/* Samples of part NUMBER of the recording follow; an undivided recording is part 0. */
void counter_begin_part(struct counter *counter, uint32_t number);
void counter_count(struct counter *counter, const struct session_sample *sample);
/* To be called at the end of a part: counts samples that were held back. */
void counter_end_part(struct counter *counter);

/*
 * Adds to what the cell of KEY has counted; it is added if it is new. Returns the cell, until the
 * next one is added.
 */
struct profile_cell *counter_add(struct counter *counter, uint64_t key, uint64_t period,
				 uint64_t count);
/* Adds what OTHER has counted with the same SHARED. */
void counter_merge(struct counter *counter, const struct counter *other);
/*
 * There will be no more samples. Frees what only counting needs, and gives groups and frames their
 * final numbers.
 */
void counter_seal(struct counter *counter);

#endif
