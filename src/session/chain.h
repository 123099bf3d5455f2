/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chain of a sample: addresses, the innermost first, between marks (PERF_CONTEXT_*) that
 * say in which address space those behind them are. A chain may go through host and guest
 * (PERF_CONTEXT_GUEST_*), which perf itself cannot show. Behind a guest's mark that repeats the one
 * before it are addresses that are guessed.
 */
#ifndef SESSION_CHAIN_H
#define SESSION_CHAIN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/context.h"
#include "session/session.h"

/* Where the addresses behind a mark are to be looked up. */
struct chain_place {
	struct machine *machine; /* NULL: nothing is known of them */
	struct space *space;	 /* NULL if machine is */
	uint16_t cpumode; /* with CPUMODE_GUESSED */
};

static inline bool chain_is_mark(uint64_t word)
{
	return word >= (uint64_t)PERF_CONTEXT_MAX;
}

/*
 * False: MARK, of those that chain_is_mark() takes for one, is none. Its chain is damaged: perf
 * shows nothing of it, and so do we. Marks of guests count as none in a recording without guests.
 */
bool chain_is_sound_mark(const struct session *session, uint64_t mark);
/* Whether no mark in the chain of FIELDS is such a one. */
bool chain_is_sound(const struct session *session, const struct perfdata_sample *fields);

/*
 * The place of what follows MARK in the chain of SAMPLE, whose context is CONTEXT. MARK is of a
 * sound chain, or PERF_CONTEXT_USER for what stands before any mark, as perf takes it. PLACE was
 * that of what is before MARK, or is empty.
 */
void chain_enter(struct session *session, const struct session_sample *sample,
		 const struct context *context, uint64_t mark, struct chain_place *place);

#endif
