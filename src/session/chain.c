/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The context marks of call chains (add_callchain_ip() in tools/perf/util/machine.c for the
 * host's).
 */
#include "session/chain.h"

bool chain_is_sound_mark(const struct session *session, uint64_t mark)
{
	if (mark == (uint64_t)PERF_CONTEXT_KERNEL || mark == (uint64_t)PERF_CONTEXT_USER ||
	    mark == (uint64_t)PERF_CONTEXT_HV)
		return true;
	return session->machines.count > 1 && chain_is_guest_mark(mark);
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

/* A mark of the host that stands for the guest's: see chain.h. */
static bool is_of_guest(const struct session_sample *sample, const struct context *context)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;

	return cpumode_is_guest(context->cpumode) && fields->callchain_count &&
	       !chain_is_guest_mark(fields->callchain[0]);
}

static uint64_t guest_mark(uint64_t mark)
{
	if (mark == (uint64_t)PERF_CONTEXT_KERNEL)
		return PERF_CONTEXT_GUEST_KERNEL;
	return mark == (uint64_t)PERF_CONTEXT_USER ? (uint64_t)PERF_CONTEXT_GUEST_USER : mark;
}

void chain_enter(struct session *session, const struct session_sample *sample,
		 const struct context *context, uint64_t mark, struct chain_place *place)
{
	uint16_t cpumode = cpumode_of(is_of_guest(sample, context) ? guest_mark(mark) : mark);
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
