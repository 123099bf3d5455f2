/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts call chains while a recording is read: how many samples have which callers and end in
 * which function. calltree.h builds trees from them.
 */
#ifndef PROFILE_CHAINS_H
#define PROFILE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/chain_frames.h"
#include "profile/chain_parts.h"
#include "profile/sequences.h"
#include "session/context.h"
#include "session/resolver.h"

#define CHAINS_NONE UINT32_MAX

#define CHAINS_GROUP 0x80000000U /* | the number of a group: the first element of an outer part */

/*
 * Samples with the same chain. Its functions, outermost first: those of OUTER, which begins with
 * the group, those of INNER, and the innermost function.
 */
struct chains_cell {
	uint32_t outer, inner; /* sequences of frames, except for the group */
	uint32_t innermost;    /* frame; CHAINS_NONE: the chain ends with the parts above */
	uint64_t period, count;
};

struct chains;

/*
 * Everything except LONE is borrowed; FRAMES may be shared with chains of other threads. LONE: a
 * sample without a chain gets one that consists of its own address; otherwise it ends in its group.
 */
struct chains *chains_create(struct session *session, struct resolver *resolver,
			     struct chain_frames *frames, bool lone);
void chains_destroy(struct chains *chains); /* takes NULL */
/*
 * Before the first sample: functions that are inlined at an address follow the function there, as
 * if it called them.
 */
void chains_want_inlined(struct chains *chains);
/* Before the first sample: only the innermost FRAMES, at least 1, are counted. */
void chains_limit(struct chains *chains, size_t frames);

/* The following samples belong to part NUMBER of the recording: see chain_frames.h. */
void chains_begin_part(struct chains *chains, uint32_t number);

/*
 * Counts samples in batches. In each step, what the next step needs is prefetched into the
 * processor's cache. A step is done for all samples of the batch, in their order, before the next
 * step:
 *
 *	chains_begin(chains, sample, context, group, &end);
 *	chains_fetch(chains, &end);
 *	chains_find_callers(chains, &end);
 *	if (end.own)
 *		chains_end_at(chains, &end, &lookup, &resolved); the sample's own address
 *	chains_locate(chains, &end);
 *	chains_count(chains, &end);
 *	and, after the last one, chains_end_batch(chains)
 */
struct chains_end {
	bool own; /* the chain ends at the sample's own address */
	bool elsewhere; /* the chain ends at another address */
	struct chain_read read;
	uint64_t time, period;
	uint32_t hash;
	struct chains_cell at; /* period and count are not used */
};

/*
 * The chain of SAMPLE, whose context is CONTEXT, in GROUP (from 1 on). A damaged chain counts as
 * none.
 */
void chains_begin(struct chains *chains, const struct session_sample *sample,
		  const struct context *context, uint32_t group, struct chains_end *ret);
void chains_fetch(const struct chains *chains, const struct chains_end *end);
void chains_find_callers(struct chains *chains, struct chains_end *end);
void chains_end_at(struct chains *chains, struct chains_end *end, const struct lookup *lookup,
		   const struct resolved *resolved);
void chains_locate(const struct chains *chains, const struct chains_end *end);
/*
 * The index of the cell that counts the sample. *RET_FULL: there is no room for another cell, so it
 * is the group's.
 */
uint32_t chains_count(struct chains *chains, const struct chains_end *end, bool *ret_full);
void chains_end_batch(struct chains *chains);

/* A sample of cell NUMBER does not count any more. */
void chains_take_back(struct chains *chains, uint32_t number, uint64_t period);
/* Each sample counts for EIGHTHS of what it did. What comes to nothing keeps its place. */
void chains_decay(struct chains *chains, unsigned eighths);
/* How many things it keeps: different chains, and parts of chains with their frames. */
size_t chains_size(const struct chains *chains);

/*
 * Adds what OTHER has counted with the same frames. Returns the current index of each of OTHER's
 * cells; the caller frees the array.
 */
uint32_t *chains_merge(struct chains *chains, const struct chains *other);
/* There will be no more samples: frees what only counting needs. */
void chains_seal(struct chains *chains);
/* To be called after sealing: replaces the numbers of groups and frames with new ones. */
void chains_renumber(struct chains *chains, const uint32_t *groups, const uint32_t *frames);

size_t chains_cell_count(const struct chains *chains);
const struct chains_cell *chains_cells(const struct chains *chains);
/* Different parts of chains for which there was no room: at least as many samples lack callers. */
uint64_t chains_left_out(const struct chains *chains);
const struct sequences *chains_sequences(const struct chains *chains);
const struct chain_frames *chains_frames(const struct chains *chains);

#endif
