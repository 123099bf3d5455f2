/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor fold: prints a recording's call chains, one per line. */
#include <stdlib.h>

#include "cmd/command.h"
#include "cmd/pager.h"
#include "cmd/recording.h"
#include "cmd/stacks_command.h"
#include "output/fold_text.h"

static struct error *fold(const struct stacks_config *config)
{
	struct stacks_options options = { .tidy = true };
	struct loaded_stacks loaded = { 0 };
	struct pager pager;
	struct error *error;

	pager_start(&pager);
	error = stacks_load(config, &options, &loaded);
	if (!error)
		error = fold_text_write(pager.fd, loaded.stacks);
	pager_finish(&pager);
	loaded_stacks_deinit(&loaded);
	return error;
}

static struct error *run_fold(const struct command *command, int argc, char **argv,
			      int *ret_status)
{
	struct stacks_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (!error && !help)
		error = fold(&config);
	filter_options_deinit(&config.filters);
	return error;
}

static const struct option_spec fold_options[] = {
	RECORDING_INPUT_OPTION(struct stacks_config, input),
	STACKS_EVENT_OPTION(struct stacks_config, event),
	FILTER_OPTIONS(struct stacks_config, filters),
	RECORDING_SYMBOL_OPTIONS(struct stacks_config, symbols),
	{ 0 },
};

const struct command command_fold = {
	.name = "fold",
	.summary = "Show a recording as folded stacks, one line per call chain",
	.arguments = "",
	.options = fold_options,
	.examples = "  perfvisor fold >out.folded                 # like perf script | "
		    "stackcollapse-perf.pl\n"
		    "  perfvisor fold | flamegraph.pl >flame.svg  # for tools that read folded "
		    "stacks\n",
	.run = run_fold,
};
