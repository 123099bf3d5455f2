/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers the functions in call chains, by level: equal functions have equal numbers. Several
 * threads may look up functions at the same time. Afterwards the numbers are put into the order in
 * which a single thread would have met the functions, so that a recording always gives the same
 * result. Part of chains.c.
 */
#ifndef PROFILE_CHAIN_FRAMES_H
#define PROFILE_CHAIN_FRAMES_H

#include <stdint.h>

#include "base/vector.h"
#include "profile/identity.h"
#include "session/session.h"

#define CHAINS_LEVEL_BITS 4 /* of a cpumode, with CPUMODE_GUESSED */

struct chains_frame {
	uint32_t location; /* one of the function's locations: the one that was met first */
	uint16_t cpumode;  /* with CPUMODE_GUESSED */
};

struct chain_frames {
	struct session *session;
	struct identities *functions; /* borrowed */
	VECTOR(struct chains_frame) list;
	VECTOR(uint64_t) met; /* when each was first met */
	/* by cpumode: identity -> frame + 1 */
	VECTOR(uint32_t) numbers[1 << CHAINS_LEVEL_BITS];
};

/* FUNCTIONS must distinguish dso and symbol. */
void chain_frames_init(struct chain_frames *frames, struct session *session,
		       struct identities *functions);
void chain_frames_deinit(struct chain_frames *frames);

/* The unique number of the frame, which was met at MET. */
uint32_t chain_frames_find(struct chain_frames *frames, uint32_t location, uint16_t cpumode,
			   uint64_t met);
/*
 * Sorts the frames by when they were met. Returns an array that maps old to new numbers; the caller
 * frees it.
 */
uint32_t *chain_frames_order(struct chain_frames *frames);

#endif
