/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts call chains while a recording is read: a tree for each group of samples, from the
 * outermost frame to the innermost. calltree.h has it as it is walked.
 */
#ifndef PROFILE_CHAINS_H
#define PROFILE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/context.h"
#include "profile/identity.h"
#include "profile/resolver.h"

#define CHAINS_NONE UINT32_MAX
/* Of a longer chain the innermost frames count. */
#define CHAINS_FRAMES_MAX 1024

struct chains_node {
	uint32_t parent; /* its number is lower than the node's; CHAINS_NONE: the root of a group */
	uint32_t frame;	 /* in the frames; of a root: the group */
	uint64_t period, count; /* of samples that end here */
};

#define CHAINS_LEVEL_BITS 3 /* of a cpumode */

/* A function at a level; equal ones have equal numbers. */
struct chains_frame {
	uint32_t location; /* one of those in it */
	uint16_t cpumode;
};

struct chains;

/*
 * By FUNCTIONS, which know dso and symbol; borrowed. LONE: a sample without a chain has one of its own
 * address; else it ends in its group's root.
 */
struct chains *chains_create(struct session *session, struct resolver *resolver,
			     struct identities *functions, bool lone);
void chains_destroy(struct chains *chains); /* takes NULL */

/*
 * Counts a sample, in steps of which each fetches into the processor's cache what the next one needs,
 * as of resolver_begin(): what comes between them is time for that.
 *
 *	if (chains_begin(chains, sample, context, group, &end)) {
 *		resolved = the sample's own address
 *		chains_prefetch(chains, &end, &resolved);
 *		chains_locate(chains, &end);
 *	}
 *	chains_count(chains, &end);
 */
struct chains_end {
	uint32_t callers, frame, node; /* node: where the chain ends */
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
void chains_prefetch(struct chains *chains, struct chains_end *end,
		     const struct resolved *resolved);
/* False: the tree is full, and the chain ends at the callers. */
bool chains_locate(struct chains *chains, struct chains_end *end);
void chains_count(struct chains *chains, const struct chains_end *end);

/* There will be no more samples: frees what only counting needs. */
void chains_seal(struct chains *chains);

size_t chains_node_count(const struct chains *chains);
const struct chains_node *chains_nodes(const struct chains *chains);
size_t chains_frame_count(const struct chains *chains);
const struct chains_frame *chains_frames(const struct chains *chains);

#endif
