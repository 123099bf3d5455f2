/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor stat: why guests exit, how often, and what it costs; perf's `perf kvm stat`. */
#include "cmd/stat/stat.h"

#include <string.h>

#include "cmd/command.h"
#include "cmd/perf_habits.h"
#include "cmd/recording.h"

/* VERB is the first argument; NULL: there is none. */
static struct error *check_verb(const char *verb)
{
	if (verb && !strcmp(verb, "report"))
		return NULL;
	return error_hint(verb ? error_create(ERROR_USAGE, "stat does not know '%s'", verb)
			       : error_create(ERROR_USAGE, "stat needs to know what to do"),
			  "'perfvisor stat report' shows a recording's exits; 'perfvisor stat "
			  "--help' lists the options");
}

static struct error *run_stat(const struct command *command, int argc, char **argv,
			      int *ret_status)
{
	struct stat_config config = { 0 };
	bool named = argc > 1 && *argv[1] != '-';
	bool help;
	struct error *error = command_parse(command, &config, argc - named, argv + named, NULL,
					    &help);

	(void)ret_status;
	if (!error && !help)
		error = check_verb(named ? argv[1] : NULL);
	if (!error && !help)
		error = stat_report(&config);
	vector_deinit(&config.vms);
	vector_deinit(&config.pids);
	return error;
}

static const struct option_spec stat_options[] = {
	RECORDING_INPUT_OPTION(struct stat_config, input),
	{ OPTION_STRING, 0, "event", offsetof(struct stat_config, event), "EVENT",
	  "what to count: vmexit (the default), mmio, ioport, msr or hypercall",
	  .completion = COMPLETE_WORDS, .words = "vmexit mmio ioport msr hypercall" },
	{ OPTION_STRING, 0, "by", offsetof(struct stat_config, by), "KEYS",
	  "a row for each reason, gsym (function of the guest), vcpu; separated by commas "
	  "(default: reason)",
	  .completion = COMPLETE_WORDS, .words = "reason gsym vcpu" },
	{ OPTION_STRING, 'k', "key", offsetof(struct stat_config, key), "KEY",
	  "what to sort by: sample (how many, the default), time (the average), or total (time)",
	  .completion = COMPLETE_WORDS, .words = "sample time total" },
	{ OPTION_STRINGS, 0, "vm", offsetof(struct stat_config, vms), "NAME|PID",
	  "only this VM; may be repeated", .completion = COMPLETE_VM },
	{ OPTION_STRINGS, 'p', "pid", offsetof(struct stat_config, pids), "PID",
	  "only the VM of this process; may be repeated", .completion = COMPLETE_VM },
	{ OPTION_STRING, 0, "vcpu", offsetof(struct stat_config, vcpus), "LIST",
	  "only these vCPUs: numbers and ranges such as 0-3,7" },
	{ OPTION_FLAG, 0, "json", offsetof(struct stat_config, json), NULL, "print JSON" },
	RECORDING_SYMBOL_OPTIONS(struct stat_config, symbols),
	RECORDING_FORCE_OPTION(struct stat_config, force),
	{ 0 },
};

const struct command command_stat = {
	.name = "stat",
	.summary = "Count why guests exit, and what it costs",
	.arguments = "report",
	.words = "report",
	.options = stat_options,
	.examples = "  perfvisor stat report                      # exits by reason, as perf kvm "
		    "stat\n"
		    "  perfvisor stat report --by reason,gsym     # and the guest's functions\n"
		    "  perfvisor stat report --event mmio -k total   # what is accessed, the "
		    "costliest first\n"
		    "  perfvisor stat report --vm web --vcpu 0 --json   # for programs\n",
	.run = run_stat,
};
