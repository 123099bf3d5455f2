/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts call chains while a recording is read: a tree for each group of samples, from the
 * outermost frame to the innermost. Frames are locations here, of which a function may have
 * several; calltree.h has functions.
 */
#ifndef PROFILE_CHAINS_H
#define PROFILE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/context.h"
#include "profile/resolver.h"

#define CHAINS_NONE UINT32_MAX
/* Of a longer chain the innermost frames count. */
#define CHAINS_FRAMES_MAX 1024

struct chains_node {
	uint32_t parent; /* its number is lower than the node's; CHAINS_NONE: the root of a group */
	uint32_t frame;	 /* see below; of a root: the group */
	uint64_t period, count; /* of samples that end here */
};

/* A frame is a location and the level at which it ran. */
#define CHAINS_LEVEL_BITS 3
static inline uint32_t chains_location(uint32_t frame)
{
	return frame >> CHAINS_LEVEL_BITS;
}
static inline uint16_t chains_cpumode(uint32_t frame)
{
	return frame & ((1U << CHAINS_LEVEL_BITS) - 1);
}

struct chains;

/* LONE: a sample without a chain has one of its own address; else it ends in its group's root. */
struct chains *chains_create(struct session *session, struct resolver *resolver, bool lone);
void chains_destroy(struct chains *chains); /* takes NULL */

/*
 * Counts a sample, in steps of which each fetches into the processor's cache what the next one needs,
 * as of resolver_begin(): what comes between them is time for that.
 *
 *	if (chains_begin(chains, sample, context, group, &end)) {
 *		location = that of the sample's own address
 *		chains_prefetch(chains, &end, location);
 *		chains_locate(chains, &end, location);
 *	}
 *	chains_finish(chains, &end);
 */
struct chains_end {
	uint32_t callers, node; /* node: where the chain ends */
	uint16_t cpumode;
	uint64_t period;
};

/*
 * Looks up the callers of SAMPLE, whose context is CONTEXT, in GROUP (numbers from 1 on). False:
 * the chain does not end at the sample's own address, since it begins elsewhere, or there is none;
 * where it ends is known. A damaged chain counts as none.
 */
bool chains_begin(struct chains *chains, const struct session_sample *sample,
		  const struct context *context, uint32_t group, struct chains_end *ret);
void chains_prefetch(const struct chains *chains, const struct chains_end *end, uint32_t location);
void chains_locate(struct chains *chains, struct chains_end *end, uint32_t location);
void chains_finish(struct chains *chains, const struct chains_end *end);

/* There will be no more samples: frees what only counting needs. */
void chains_seal(struct chains *chains);

size_t chains_count(const struct chains *chains);
const struct chains_node *chains_nodes(const struct chains *chains);

#endif
