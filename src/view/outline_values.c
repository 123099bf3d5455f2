/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells the rows of an outline apart, as numbers. */
#include <string.h>

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

static uint64_t lasting_string(struct outline *outline, uint32_t number)
{
	const char *text = number ? intern_string(outline->profile->session->strings, number) : "";

	return hash_bytes_seeded(outline->folds.seed, text, strlen(text));
}

uint64_t outline_lasting_function(struct outline *outline, uint32_t location, uint16_t cpumode)
{
	const struct profile_row row = { .location = location, .cpumode = cpumode };
	uint32_t source = resolver_location(outline->profile->resolver, location)->source;
	uint32_t number = function_of(outline, &row);
	struct identity function = identities_get(outline->functions, number);
	uint64_t words[] = { function.start,
			     function.end,
			     cpumode,
			     lasting_string(outline, function.dso),
			     lasting_string(outline, function.symbol),
			     lasting_string(outline, source) };

	return hash_bytes_seeded(outline->folds.seed, words, sizeof(words));
}

uint64_t outline_lasting_value(struct outline *outline, const struct profile_row *row,
			       enum profile_key key)
{
	switch (key) {
	case PROFILE_VM:
		return row->vm ? row->vm->pid : 0;
	case PROFILE_COMM:
		return row->comm == TIMELINE_NO_COMM ? row->tid
						     : lasting_string(outline, row->comm);
	case PROFILE_GUEST_COMM:
		return row->guest_comm >= PROFILE_HOST_COMM
			       ? row->guest_comm
			       : lasting_string(outline, row->guest_comm);
	case PROFILE_DSO:
		return lasting_string(outline, row->dso);
	case PROFILE_SYMBOL:
		return outline_lasting_function(outline, row->location, row->cpumode);
	case PROFILE_SOURCE:
		return lasting_string(outline, outline_value(outline, row, key));
	case PROFILE_VCPU:
	case PROFILE_PID:
	case PROFILE_TID:
	case PROFILE_GUEST_PID:
	case PROFILE_MODE:
	case PROFILE_CPU:
	case PROFILE_TIME:
		return outline_value(outline, row, key);
	default:
		return lasting_string(outline, row->texts[key - PROFILE_TEXT]);
	}
}
