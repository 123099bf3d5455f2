/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a recording and counts its stacks, for fold and flamegraph. */
#include "cmd/stacks_command.h"

#include "base/log.h"
#include "cmd/recording.h"

static void choose_keys(const struct stacks_options *options, struct profile_keys *ret)
{
	ret->count = 0;
	if (options->machines) {
		profile_keys_add(ret, PROFILE_VM);
		profile_keys_add(ret, PROFILE_VCPU);
	}
	profile_keys_add(ret, PROFILE_COMM);
}

/* Shares across several events would be meaningless: shows one event and names the others. */
static void choose_event(struct loaded_stacks *loaded)
{
	const struct profile *profile = loaded->profile;

	loaded->event = stacks_choose_event(profile);
	for (size_t i = loaded->event + 1; i < profile->event_count; i++)
		if (profile->events[i].samples)
			log_note("the recording has several events: showing only '%s', not '%s'",
				 profile->events[loaded->event].name, profile->events[i].name);
}

struct error *stacks_load(const struct stacks_config *config, const struct stacks_options *options,
			  struct loaded_stacks *ret)
{
	struct profile_options counted = { .chains = true, .by_name = true };
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct error *error =
		recording_open(config->input, &config->symbols, &ret->path, &ret->session);

	if (!error)
		error = filter_options_build(&config->filters, ret->session, &filter);
	if (!error) {
		choose_keys(options, &counted.keys);
		counted.lone = options->machines || !profile_has_chains(ret->session);
		counted.filter = &filter;
		ret->profile = profile_create(ret->session, &counted);
		error = recording_symbols_error(ret->session);
	}
	if (error)
		return error;
	recording_warn(ret->session, ret->path);
	recording_warn_if_empty(ret->profile);
	if (!profile_has_chains(ret->session))
		log_note("the recording has no call chains: showing each sample's function alone");
	choose_event(ret);
	ret->stacks = stacks_create(ret->profile, ret->event, options);
	return NULL;
}

void loaded_stacks_deinit(struct loaded_stacks *loaded)
{
	stacks_destroy(loaded->stacks);
	profile_destroy(loaded->profile);
	session_close(loaded->session);
}
