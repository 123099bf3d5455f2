/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by fold, flamegraph and export: from options to stacks. */
#ifndef CMD_STACKS_COMMAND_H
#define CMD_STACKS_COMMAND_H

#include "base/error.h"
#include "base/options.h"
#include "cmd/filter_options.h"
#include "output/stacks.h"
#include "session/session.h"

struct stacks_config {
	const char *input;
	const char *event; /* NULL: the first that has samples */
	struct filter_options filters; /* the caller's to free */
	struct kernel_source_options symbols;
};

#define STACKS_EVENT_OPTION(type, field)                                                           \
	{ OPTION_STRING, 'e', "event", offsetof(type, field), "NAME",                              \
	  "the event, of a recording of several (default: the first that has samples)" }

struct loaded_stacks {
	const char *path; /* of the recording */
	struct session *session;
	struct profile *profile;
	size_t event; /* the one that is shown */
	struct stacks *stacks;
};

/*
 * Raises the walls, opens the recording, and makes the filter. RET is zeroed by the caller and must
 * be freed with loaded_stacks_deinit(), RET_FILTER with filter_deinit(), even after an error.
 */
struct error *stacks_open(const struct stacks_config *config, struct loaded_stacks *ret,
			  struct filter *ret_filter) MUST_CHECK;
/* Adds the keys of the levels above functions. */
void stacks_add_keys(const struct stacks_options *options, struct profile_keys *ret);
/*
 * Counts chains by OPTIONS' keys; the other options are set here, except that lone may be set
 * before. Chooses the event.
 */
struct error *stacks_count(const struct stacks_config *config, struct profile_options *options,
			   const struct filter *filter, struct loaded_stacks *loaded) MUST_CHECK;
/* All of these, and makes the stacks. RET as above. */
struct error *stacks_load(const struct stacks_config *config, const struct stacks_options *options,
			  struct loaded_stacks *ret) MUST_CHECK;
void loaded_stacks_deinit(struct loaded_stacks *loaded);

#endif
