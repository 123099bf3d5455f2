/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor export: writes a recording in the formats of other tools. */
#include "export/export.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/command.h"
#include "cmd/output_file.h"
#include "cmd/recording.h"
#include "cmd/stacks_command.h"

struct export_config {
	const char *format, *output;
	bool force;
	struct stacks_config stacks;
};

static struct error *find_format(const char *name, const struct export_format **ret)
{
	*ret = name ? export_find_format(name) : NULL;
	if (*ret)
		return NULL;
	return error_hint(name ? error_create(ERROR_USAGE, "--format: unknown format '%s'", name)
			       : error_create(ERROR_USAGE, "--format is missing"),
			  "the formats are folded, pprof, speedscope, firefox, chrome, json and "
			  "csv");
}

static struct error *check_output(const struct export_config *config,
				  const struct export_format *format)
{
	struct stat status;

	if (!config->output)
		return strcmp(format->name, "pprof") || !isatty(STDOUT_FILENO) ? NULL
			: error_hint(error_create(ERROR_USAGE,
						  "refusing to write binary data to a terminal"),
				     "use -o FILE");
	if (config->force || stat(config->output, &status) || !S_ISREG(status.st_mode) ||
	    !status.st_size)
		return NULL;
	return error_hint(error_create(ERROR_UNSUPPORTED, "'%s' exists and was not replaced",
				       config->output),
			  "--force replaces it");
}

static struct error *write_export(const struct export_config *config,
				  const struct export_format *format,
				  const struct loaded_stacks *loaded, struct output_file *output,
				  int *ret_status)
{
	struct export_input input = { loaded->profile, loaded->event, loaded->path,
				      loaded->stacks };
	struct error *error = format->write(config->output ? output->file.out : stdout, &input);
	bool done;

	if (error || !config->output)
		return error; /* main() checks stdout */
	error = output_file_finish(output, &done);
	*ret_status = done ? 0 : 1;
	if (!error && done)
		log_note("wrote '%s'", config->output);
	return error;
}

/* Counts by thread, and each sample. */
static struct error *count_times(const struct stacks_config *config,
				 const struct filter *filter, struct loaded_stacks *loaded)
{
	struct profile_options options = { .keys = export_keys, .lone = true, .samples = true };

	if (!loaded->session->timed)
		return error_create(ERROR_UNSUPPORTED,
				    "the samples have no times, which the format needs");
	profile_keys_add(&options.keys, PROFILE_TID);
	return stacks_count(config, &options, filter, loaded);
}

static struct error *load(const struct export_config *config, enum export_needs needs,
			  struct loaded_stacks *ret)
{
	struct profile_options options = { .keys = export_keys, .lone = true };
	struct stacks_options folded = { .tidy = true };
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct error *error;

	if (needs == EXPORT_FOLDED)
		return stacks_load(&config->stacks, &folded, ret);
	error = stacks_open(&config->stacks, ret, &filter);
	if (error)
		return error;
	return needs == EXPORT_TIMES ? count_times(&config->stacks, &filter, ret)
				     : stacks_count(&config->stacks, &options, &filter, ret);
}

static struct error *export(const struct export_config *config, int *ret_status)
{
	_cleanup_(output_file_deinit) struct output_file output = { 0 };
	struct loaded_stacks loaded = { 0 };
	const struct export_format *format;
	struct error *error = find_format(config->format, &format);

	if (!error)
		error = check_output(config, format);
	if (!error && config->output)
		error = output_file_begin(config->output, &output);
	if (!error)
		error = load(config, format->needs, &loaded);
	if (!error)
		error = write_export(config, format, &loaded, &output, ret_status);
	loaded_stacks_deinit(&loaded);
	return error;
}

static struct error *run_export(const struct command *command, int argc, char **argv,
				int *ret_status)
{
	struct export_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	if (!error && !help)
		error = export(&config, ret_status);
	filter_options_deinit(&config.stacks.filters);
	return error;
}

static const struct option_spec export_options[] = {
	RECORDING_INPUT_OPTION(struct export_config, stacks.input),
	{ OPTION_STRING, 'f', "format", offsetof(struct export_config, format), "FORMAT",
	  "folded, pprof, speedscope, firefox, chrome, json or csv", .completion = COMPLETE_WORDS,
	  .words = "folded pprof speedscope firefox chrome json csv" },
	{ OPTION_STRING, 'o', "output", offsetof(struct export_config, output), "FILE",
	  "where to write it (default: standard output)", .completion = COMPLETE_FILE },
	{ OPTION_FLAG, 0, "force", offsetof(struct export_config, force), NULL,
	  "replace FILE if it exists" },
	STACKS_EVENT_OPTION(struct export_config, stacks.event),
	FILTER_OPTIONS(struct export_config, stacks.filters),
	RECORDING_SYMBOL_OPTIONS(struct export_config, stacks.symbols),
	{ 0 },
};

const struct command command_export = {
	.name = "export",
	.summary = "Write a recording in a format of other tools",
	.arguments = "",
	.options = export_options,
	.examples = "  perfvisor export -f pprof -o web.pb.gz && go tool pprof -http : web.pb.gz\n"
		    "  perfvisor export -f speedscope -o web.json  # for www.speedscope.app\n"
		    "  perfvisor export -f firefox -o web.json     # for profiler.firefox.com\n"
		    "  perfvisor export -f csv --vm web1 >web1.csv\n",
	.run = run_export,
};
