/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells the rows of an outline apart, as numbers. */
#include "output/view.h"
#include "view/outline_nodes.h"

bool outline_knows(const struct outline *outline, enum profile_key key)
{
	const struct profile_keys *keys = outline->options.keys;

	if (key == PROFILE_DSO || key == PROFILE_MODE)
		return profile_keys_have(keys, key) || profile_keys_have(keys, PROFILE_SYMBOL);
	return profile_keys_have(keys, key);
}

bool outline_is_of_sample(enum profile_key key)
{
	return key != PROFILE_DSO && key != PROFILE_MODE && key != PROFILE_SYMBOL &&
	       key != PROFILE_SOURCE;
}

/* The same function in several VMs has the same number. */
static uint64_t function_of(struct outline *outline, const struct profile_row *row)
{
	const struct profile_keys keys = { .items = { PROFILE_SYMBOL }, .count = 1 };

	if (!outline->functions)
		outline->functions = identities_create(outline->profile, &keys);
	return (uint64_t)row->cpumode << 32 |
	       identities_find(outline->functions, row->location, row->cpumode);
}

uint64_t outline_value(struct outline *outline, const struct profile_row *row,
		       enum profile_key key)
{
	switch (key) {
	case PROFILE_VM:
		return (uintptr_t)row->vm;
	case PROFILE_VCPU:
		return row->vcpu;
	case PROFILE_COMM:
		return row->comm == TIMELINE_NO_COMM ? (uint64_t)row->comm << 32 | row->tid
						     : row->comm;
	case PROFILE_PID:
		return row->pid;
	case PROFILE_TID:
		return row->tid;
	case PROFILE_GUEST_COMM:
		return row->guest_comm;
	case PROFILE_GUEST_PID:
		return row->guest_pid;
	case PROFILE_DSO:
		return row->dso;
	case PROFILE_MODE:
		return row->cpumode;
	case PROFILE_CPU:
		return row->cpu;
	case PROFILE_TIME:
		return row->time_ns;
	case PROFILE_SYMBOL:
		return function_of(outline, row);
	case PROFILE_SOURCE:
		return resolver_location(outline->profile->resolver, row->location)->source;
	default:
		return row->texts[key - PROFILE_TEXT];
	}
}
