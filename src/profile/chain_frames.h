/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions in call chains, at their levels: equal ones have equal numbers. Several threads may
 * look for them at once; the numbers are then put into the order in which one thread would have met
 * them, so that a recording looks the same each time. Part of chains.c.
 */
#ifndef PROFILE_CHAIN_FRAMES_H
#define PROFILE_CHAIN_FRAMES_H

#include <stdint.h>

#include "base/vector.h"
#include "profile/identity.h"
#include "session/session.h"

#define CHAINS_LEVEL_BITS 4 /* of a cpumode, with CPUMODE_GUESSED */

struct chains_frame {
	uint32_t location; /* one of those in it: that which was met first */
	uint16_t cpumode;  /* with CPUMODE_GUESSED */
};

struct chain_frames {
	struct session *session;
	struct identities *functions; /* borrowed */
	VECTOR(struct chains_frame) list;
	VECTOR(uint64_t) met; /* when each was, first */
	/* by cpumode: of an identity, frame + 1 */
	VECTOR(uint32_t) numbers[1 << CHAINS_LEVEL_BITS];
};

/* By FUNCTIONS, which know dso and symbol. */
void chain_frames_init(struct chain_frames *frames, struct session *session,
		       struct identities *functions);
void chain_frames_deinit(struct chain_frames *frames);

/* The number of the frame, met at MET, which no other frame is. */
uint32_t chain_frames_find(struct chain_frames *frames, uint32_t location, uint16_t cpumode,
			   uint64_t met);
/*
 * Puts the frames in the order of the times that they were met at. Gives the new numbers by the old
 * ones, to be freed by the caller.
 */
uint32_t *chain_frames_order(struct chain_frames *frames);

#endif
