/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fold and flamegraph share: from their options to stacks. */
#ifndef CMD_STACKS_COMMAND_H
#define CMD_STACKS_COMMAND_H

#include "base/error.h"
#include "base/options.h"
#include "output/stacks.h"
#include "session/session.h"

struct stacks_config {
	const char *input;
	struct string_list vms; /* the caller frees its items */
	struct kernel_source_options symbols;
};

struct loaded_stacks {
	const char *path; /* of the recording */
	struct session *session;
	struct profile *profile;
	size_t event; /* which is shown */
	struct stacks *stacks;
};

/* RET is to be freed by loaded_stacks_deinit(), also after an error; it is zeroed before. */
struct error *stacks_load(const struct stacks_config *config, const struct stacks_options *options,
			  struct loaded_stacks *ret) MUST_CHECK;
void loaded_stacks_deinit(struct loaded_stacks *loaded);

#endif
