/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor script: prints a recording sample by sample. */
#include "cmd/command.h"
#include "cmd/recording.h"
#include "output/script_text.h"

struct script_config {
	const char *input;
	const char *fields;
	uint64_t max_stack;
	struct kernel_source_options symbols;
};

static struct error *script(struct session *session, const char *path,
			    const struct script_fields *fields)
{
	struct pager pager;
	struct error *error;

	pager_start(&pager);
	error = script_text_write(pager.fd, session, fields);
	pager_finish(&pager);
	if (!error)
		error = recording_symbols_error(session);
	if (!error)
		recording_warn(session, path);
	return error;
}

static struct error *run_script(const struct command *command, int argc, char **argv,
				int *ret_status)
{
	struct script_config config = { 0 };
	struct script_fields fields = { 0 };
	_cleanup_session_ struct session *session = NULL;
	const char *path;
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	if (config.fields)
		error = script_fields_parse(config.fields, &fields);
	fields.max_stack = config.max_stack;
	if (!error)
		error = recording_open(config.input, &config.symbols, &path, &session);
	return error ? error : script(session, path, &fields);
}

static const struct option_spec script_options[] = {
	RECORDING_INPUT_OPTION(struct script_config, input),
	{ OPTION_STRING, 'F', "fields", offsetof(struct script_config, fields), "FIELDS",
	  "what to print of a sample, separated by commas; +FIELD and -FIELD change the default",
	  .completion = COMPLETE_WORDS,
	  .words = "comm tid pid time cpu event ip sym symoff dso period machine_pid vcpu trace" },
	{ OPTION_UNSIGNED, 0, "max-stack", offsetof(struct script_config, max_stack), "FRAMES",
	  "how many frames of a call chain to print, innermost first (default: 127)", .min = 1,
	  .max = UINT16_MAX },
	RECORDING_SYMBOL_OPTIONS(struct script_config, symbols),
	{ 0 },
};

const struct command command_script = {
	.name = "script",
	.summary = "Show a recording sample by sample, like perf script",
	.arguments = "",
	.options = script_options,
	.examples =
		"  perfvisor script | stackcollapse-perf.pl | flamegraph.pl >flame.svg\n"
		"  perfvisor script -F time,machine_pid,vcpu,ip,sym  # where a guest was, and "
		"when\n",
	.run = run_script,
};
