/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a recording and counts its stacks, for fold and flamegraph. */
#include "cmd/stacks_command.h"

#include <string.h>

#include "base/log.h"
#include "cmd/recording.h"

void stacks_add_keys(const struct stacks_options *options, struct profile_keys *ret)
{
	if (options->vms)
		profile_keys_add(ret, PROFILE_VM);
	if (options->vcpus)
		profile_keys_add(ret, PROFILE_VCPU);
	profile_keys_add(ret, PROFILE_COMM);
}

/* The event called NAME, or, if there is only one, NAME with modifiers ("cycles:G"). */
static struct error *find_event(const struct profile *profile, const char *name, size_t *ret)
{
	size_t length = strlen(name), found = 0;
	_cleanup_buffer_ struct buffer names;
	struct error *error;

	buffer_init(&names, 4096);
	for (size_t i = 0; i < profile->event_count; i++) {
		const char *event = profile->events[i].name;

		if (!strcmp(event, name)) {
			*ret = i;
			return NULL;
		}
		buffer_printf(&names, "%s%s", i ? ", " : "", event);
		if (strncmp(event, name, length) || event[length] != ':')
			continue;
		*ret = i;
		found++;
	}
	if (found == 1)
		return NULL;
	error = error_create(ERROR_NOT_FOUND, "the recording has %s event '%s'",
			     found ? "more than one" : "no", name);
	return error_hint(error, "it has %.*s", (int)names.size, (const char *)names.data);
}

/* Shares across several events would be meaningless: shows one event and names the others. */
static struct error *choose_event(const char *name, struct loaded_stacks *loaded)
{
	const struct profile *profile = loaded->profile;

	if (name)
		return find_event(profile, name, &loaded->event);
	loaded->event = stacks_choose_event(profile);
	for (size_t i = loaded->event + 1; i < profile->event_count; i++)
		if (profile->events[i].samples)
			log_note("the recording has several events: showing only '%s', not '%s' "
				 "(-e chooses)",
				 profile->events[loaded->event].name, profile->events[i].name);
	return NULL;
}

/* Lines of folded stacks name their VM only where that tells them apart. */
static bool needs_vms(const struct session *session, const struct filter *filter)
{
	return filter->vms.count != 1 && session->machines.count > 2;
}

struct error *stacks_open(const struct stacks_config *config, struct loaded_stacks *ret,
			  struct filter *ret_filter)
{
	struct error *error = recording_raise_walls(&config->input, 1, &config->symbols, NULL);

	if (!error)
		error = recording_open(config->input, &config->symbols, &ret->path, &ret->session);

	if (!error)
		error = filter_options_build(&config->filters, ret->session, ret_filter);
	return error;
}

struct error *stacks_count(const struct stacks_config *config, struct profile_options *options,
			   const struct filter *filter, struct loaded_stacks *loaded)
{
	struct error *error;

	options->chains = options->by_name = true;
	options->lone |= !profile_has_chains(loaded->session);
	options->filter = filter;
	loaded->profile = profile_create(loaded->session, options);
	error = recording_symbols_error(loaded->session);
	if (error)
		return error;
	recording_warn(loaded->session, loaded->path);
	recording_warn_if_empty(loaded->profile);
	recording_warn_if_cut(loaded->profile);
	if (!profile_has_chains(loaded->session))
		log_note("the recording has no call chains: showing each sample's function alone");
	return choose_event(config->event, loaded);
}

struct error *stacks_load(const struct stacks_config *config, const struct stacks_options *options,
			  struct loaded_stacks *ret)
{
	struct profile_options counted = { .lone = options->vcpus };
	struct stacks_options levels = *options;
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct error *error = stacks_open(config, ret, &filter);

	if (!error) {
		levels.vms = options->vms || needs_vms(ret->session, &filter);
		stacks_add_keys(&levels, &counted.keys);
		error = stacks_count(config, &counted, &filter, ret);
	}
	if (!error)
		ret->stacks = stacks_create(ret->profile, ret->event, &levels);
	return error;
}

void loaded_stacks_deinit(struct loaded_stacks *loaded)
{
	stacks_destroy(loaded->stacks);
	profile_destroy(loaded->profile);
	session_close(loaded->session);
}
