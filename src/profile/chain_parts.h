/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits the call chain of a sample into its innermost address and two parts that repeat
 * independently of each other: the outer part, which starts at the last mark, and the inner part,
 * which is the rest. Part of chains.c.
 *
 * A part consists of words: places, and the addresses at each place.
 */
#ifndef PROFILE_CHAIN_PARTS_H
#define PROFILE_CHAIN_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "session/chain.h"

/* Of a longer chain only the innermost frames are kept. */
#define CHAINS_FRAMES_MAX 1024

struct chain_parts {
	struct session *session; /* borrowed */
	size_t max_frames;	 /* from 1 to CHAINS_FRAMES_MAX */
	uint64_t seeds[3];	 /* of hashes; unknown to whoever made the recording */
	VECTOR(uint64_t) words;	 /* of all chains that were read since it was last emptied */
};

struct chain_part {
	size_t start; /* index into the words */
	uint32_t count, group; /* count 0: empty; group is 0 for an inner part */
	uint64_t hash;
};

/* Among the words, a place is this, which is not an address, followed by three words. */
#define CHAIN_PARTS_PLACE UINT64_MAX
#define CHAIN_PARTS_PLACE_WORDS 4

struct chain_place chain_parts_place(const uint64_t *words);

struct chain_read {
	bool found; /* false: there is no chain, or it is damaged */
	uint64_t address; /* the innermost address, if there is one */
	struct chain_place place; /* the place of that address */
	struct chain_part outer, inner;
};

/* Reads the chain of SAMPLE, whose context is CONTEXT, in GROUP. */
void chain_parts_read(struct chain_parts *parts, const struct session_sample *sample,
		      const struct context *context, uint32_t group, struct chain_read *ret);

static inline uint64_t chain_parts_fold(uint64_t left, uint64_t right)
{
	unsigned __int128 product = (unsigned __int128)left * right;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
