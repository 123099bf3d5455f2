/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chain of a sample: addresses, innermost first, with marks (PERF_CONTEXT_*) that give the
 * address space of the addresses after them.
 *
 * Stock perf drops a chain with a guest's mark (PERF_CONTEXT_GUEST_*; add_callchain_ip()), but
 * looks up a guest sample's addresses in the guest's kernel and programs whatever the mark. So the
 * chain of a guest sample that begins with PERF_CONTEXT_KERNEL or PERF_CONTEXT_USER is the guest's
 * all through. One that begins with a guest's mark may pass through guest and host. A repeated mark
 * of the guest's means that the addresses after it are guesses.
 */
#ifndef SESSION_CHAIN_H
#define SESSION_CHAIN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/context.h"
#include "session/session.h"

/* Where to look up the addresses after a mark. */
struct chain_place {
	struct machine *machine; /* NULL: nothing is known about them */
	struct space *space;	 /* NULL if machine is NULL */
	uint16_t cpumode; /* may include CPUMODE_GUESSED */
};

static inline bool chain_is_mark(uint64_t word)
{
	return word >= (uint64_t)PERF_CONTEXT_MAX;
}

static inline bool chain_is_guest_mark(uint64_t word)
{
	return word == (uint64_t)PERF_CONTEXT_GUEST ||
	       word == (uint64_t)PERF_CONTEXT_GUEST_KERNEL ||
	       word == (uint64_t)PERF_CONTEXT_GUEST_USER;
}

/*
 * False: MARK looks like a mark (chain_is_mark()), but is not a valid one. Then its chain is
 * damaged: perf shows nothing of it, and neither do we. Guest marks are not valid in a recording
 * without guests.
 */
bool chain_is_sound_mark(const struct session *session, uint64_t mark);
/* Whether all marks in the chain of FIELDS are valid. */
bool chain_is_sound(const struct session *session, const struct perfdata_sample *fields);

/*
 * Finds the place of the addresses after MARK in the chain of SAMPLE, whose context is CONTEXT.
 * MARK is from a sound chain, or PERF_CONTEXT_USER for addresses before any mark, as in perf. PLACE
 * is that of the addresses before MARK, or empty.
 */
void chain_enter(struct session *session, const struct session_sample *sample,
		 const struct context *context, uint64_t mark, struct chain_place *place);

#endif
