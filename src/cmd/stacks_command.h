/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by fold and flamegraph: from options to stacks. */
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

/* RET is zeroed first and must be freed with loaded_stacks_deinit(), even after an error. */
struct error *stacks_load(const struct stacks_config *config, const struct stacks_options *options,
			  struct loaded_stacks *ret) MUST_CHECK;
void loaded_stacks_deinit(struct loaded_stacks *loaded);

#endif
