/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The context marks of call chains (add_callchain_ip() in tools/perf/util/machine.c for the
 * host's).
 */
#include "session/chain.h"

static bool is_guest_mark(uint64_t word)
{
	return word == (uint64_t)PERF_CONTEXT_GUEST ||
	       word == (uint64_t)PERF_CONTEXT_GUEST_KERNEL ||
	       word == (uint64_t)PERF_CONTEXT_GUEST_USER;
}

bool chain_is_sound_mark(const struct session *session, uint64_t mark)
{
	if (mark == (uint64_t)PERF_CONTEXT_KERNEL || mark == (uint64_t)PERF_CONTEXT_USER ||
	    mark == (uint64_t)PERF_CONTEXT_HV)
		return true;
	return session->machines.count > 1 && is_guest_mark(mark);
}

bool chain_is_sound(const struct session *session, const struct perfdata_sample *fields)
{
	for (uint64_t i = 0; i < fields->callchain_count; i++)
		if (chain_is_mark(fields->callchain[i]) &&
		    !chain_is_sound_mark(session, fields->callchain[i]))
			return false;
	return true;
}

static uint16_t cpumode_of(uint64_t mark)
{
	switch (mark) {
	case PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default:
		return PERF_RECORD_MISC_HYPERVISOR;
	}
}

void chain_enter(struct session *session, const struct session_sample *sample,
		 const struct context *context, uint64_t mark, struct chain_place *place)
{
	uint16_t cpumode = cpumode_of(mark);
	bool user = cpumode == PERF_RECORD_MISC_USER || cpumode == PERF_RECORD_MISC_GUEST_USER;
	bool guest = cpumode_is_guest(cpumode);
	bool guessed = guest && (place->cpumode & ~CPUMODE_GUESSED) == cpumode;

	*place = (struct chain_place){ .cpumode = cpumode | (guessed ? CPUMODE_GUESSED : 0) };
	if (cpumode == PERF_RECORD_MISC_HYPERVISOR)
		return;
	if (context->machine && guest == cpumode_is_guest(context->cpumode)) {
		place->machine = context->machine;
		place->space = user ? context->user_space : &context->machine->kernel;
		if (context->special & PERFDATA_NESTED)
			place->space = &session->nested;
		return;
	}
	place->space = context_space(session, sample, cpumode, &place->machine);
}
