/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor flamegraph: writes a recording's call chains as an HTML page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/command.h"
#include "cmd/output_file.h"
#include "cmd/recording.h"
#include "cmd/stacks_command.h"
#include "output/flamegraph.h"

#define DEFAULT_OUTPUT "flame.html"

struct flamegraph_config {
	const char *output;
	bool force;
	struct stacks_config stacks;
};

static struct error *write_page(const struct loaded_stacks *loaded, const char *path,
				struct output_file *output, int *ret_status)
{
	FILE *out = output->file.out ? output->file.out : stdout;
	struct error *error;
	bool done;

	flamegraph_write(out, loaded->profile, loaded->event, loaded->stacks, loaded->path);
	if (out == stdout)
		return NULL; /* main() checks it */
	error = output_file_finish(output, &done);
	*ret_status = done ? 0 : 1;
	if (error || !done)
		return error;
	log_note("wrote '%s': open it in a browser", path);
	return NULL;
}

static struct error *check_output(const char *path, bool force)
{
	struct stat status;

	if (!strcmp(path, "-"))
		return !isatty(STDOUT_FILENO) ? NULL
			: error_hint(error_create(ERROR_USAGE,
						  "refusing to write HTML to a terminal"),
				     "use -o FILE.html");
	if (force || stat(path, &status) || !S_ISREG(status.st_mode) || flamegraph_is_page(path))
		return NULL;
	return error_hint(error_create(ERROR_UNSUPPORTED,
				       "'%s' is not a perfvisor page and was not replaced", path),
			  "name another with -o, or --force");
}

static struct error *flamegraph(const struct flamegraph_config *config, int *ret_status)
{
	_cleanup_(output_file_deinit) struct output_file output = { 0 };
	const char *path = config->output ? config->output : DEFAULT_OUTPUT;
	struct stacks_options options = { .vms = true, .vcpus = true };
	struct loaded_stacks loaded = { 0 };
	struct error *error = check_output(path, config->force);

	if (!error && strcmp(path, "-"))
		error = output_file_begin(path, &output);
	if (!error)
		error = stacks_load(&config->stacks, &options, &loaded);
	if (!error)
		error = write_page(&loaded, path, &output, ret_status);
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
