/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor flamegraph: writes a recording's call chains as an HTML page. */
#include "cmd/command.h"
#include "cmd/page_file.h"
#include "cmd/recording.h"
#include "cmd/stacks_command.h"

#define DEFAULT_OUTPUT "flame.html"

struct flamegraph_config {
	const char *output;
	bool force;
	struct stacks_config stacks;
};

static struct error *flamegraph(const struct flamegraph_config *config, int *ret_status)
{
	_cleanup_(page_file_deinit) struct page_file file = { 0 };
	const char *path = config->output ? config->output : DEFAULT_OUTPUT;
	struct stacks_options options = { .vms = true, .vcpus = true };
	struct loaded_stacks loaded = { 0 };
	struct error *error = page_file_begin(path, config->force, &file);

	if (!error)
		error = stacks_load(&config->stacks, &options, &loaded);
	if (!error) {
		struct flamegraph_page page = { .profile = loaded.profile,
						.event = loaded.event,
						.stacks = loaded.stacks,
						.title = loaded.path };

		error = page_file_write(&file, &page, ret_status);
	}
	loaded_stacks_deinit(&loaded);
	return error;
}

static struct error *run_flamegraph(const struct command *command, int argc, char **argv,
				    int *ret_status)
{
	struct flamegraph_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	if (!error && !help)
		error = flamegraph(&config, ret_status);
	filter_options_deinit(&config.stacks.filters);
	return error;
}

static const struct option_spec flamegraph_options[] = {
	RECORDING_INPUT_OPTION(struct flamegraph_config, stacks.input),
	{ OPTION_STRING, 'o', "output", offsetof(struct flamegraph_config, output), "FILE",
	  "where to write the page; - is standard output (default: " DEFAULT_OUTPUT ")",
	  .completion = COMPLETE_FILE },
	STACKS_EVENT_OPTION(struct flamegraph_config, stacks.event),
	{ OPTION_FLAG, 0, "force", offsetof(struct flamegraph_config, force), NULL,
	  "replace FILE even if it is not a perfvisor page" },
	FILTER_OPTIONS(struct flamegraph_config, stacks.filters),
	RECORDING_SYMBOL_OPTIONS(struct flamegraph_config, stacks.symbols),
	{ 0 },
};

const struct command command_flamegraph = {
	.name = "flamegraph",
	.summary = "Show a recording as a flame graph, a page for a browser",
	.arguments = "",
	.options = flamegraph_options,
	.examples = "  perfvisor flamegraph                       # the newest recording here, "
		    "to " DEFAULT_OUTPUT "\n"
		    "  perfvisor flamegraph --vm web1 -o web1.html # one VM\n",
	.run = run_flamegraph,
};
