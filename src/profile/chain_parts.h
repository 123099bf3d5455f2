/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chain of a sample as its innermost address and two parts, which repeat apart from each
 * other: what is from the last mark on, the outer one, and what is inside of that. Part of
 * chains.c.
 *
 * A part is made of words: places, and the addresses that are in each.
 */
#ifndef PROFILE_CHAIN_PARTS_H
#define PROFILE_CHAIN_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "session/chain.h"

/* Of a longer chain the innermost frames count. */
#define CHAINS_FRAMES_MAX 1024

struct chain_parts {
	struct session *session; /* borrowed */
	uint64_t seeds[3];	 /* of hashes: not known to who made the recording */
	VECTOR(uint64_t) words;	 /* of all chains that were read since this was emptied */
};

struct chain_part {
	size_t start; /* in the words */
	uint32_t count, group; /* count 0: there is nothing; group 0 of an inner one */
	uint64_t hash;
};

/* A place among the words is this, which is no address, and three words more. */
#define CHAIN_PARTS_PLACE UINT64_MAX
#define CHAIN_PARTS_PLACE_WORDS 4

struct chain_place chain_parts_place(const uint64_t *words);

struct chain_read {
	bool found; /* false: there is no chain, or it is damaged */
	uint64_t address; /* the innermost, if there is one */
	struct chain_place place; /* of it */
	struct chain_part outer, inner;
};

/* The chain of SAMPLE, whose context is CONTEXT, in GROUP. */
void chain_parts_read(struct chain_parts *parts, const struct session_sample *sample,
		      const struct context *context, uint32_t group, struct chain_read *ret);

static inline uint64_t chain_parts_fold(uint64_t left, uint64_t right)
{
	unsigned __int128 product = (unsigned __int128)left * right;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
