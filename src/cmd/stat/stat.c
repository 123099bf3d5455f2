/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor stat: why guests exit, how often, and what it costs; perf's `perf kvm stat`. */
#include "cmd/stat/stat.h"

#include <string.h>

#include "cmd/command.h"
#include "cmd/record/record_options.h"
#include "cmd/recording.h"

/* An option of one verb that was given with the other one. */
static struct error *check_option(const char *verb, const char *option, bool given)
{
	return given ? error_create(ERROR_USAGE, "stat %s has no option %s", verb, option) : NULL;
}

static struct error *check_for_report(const struct stat_config *config)
{
	const struct record_options *record = &config->record;
	struct error *error = check_option("report", "--output", record->output);

	if (!error)
		error = check_option("report", "--duration", record->duration_s);
	if (!error)
		error = check_option("report", "--mmap-pages", record->mmap_pages);
	if (!error)
		error = check_option("report", "--no-memory", record->no_memory);
	return error ? error : check_option("report", "--kernel-only", record->kernel_only);
}

static struct error *check_for_record(const struct stat_config *config)
{
	struct error *error = check_option("record", "--input", config->input);

	if (!error)
		error = check_option("record", "--event", config->event);
	if (!error)
		error = check_option("record", "--by", config->by);
	if (!error)
		error = check_option("record", "--key", config->key);
	return error ? error : check_option("record", "--json", config->json);
}

static struct error *unknown_verb(const char *verb)
{
	return error_hint(verb ? error_create(ERROR_USAGE, "stat does not know '%s'", verb)
			       : error_create(ERROR_USAGE, "stat needs to know what to do"),
			  "'perfvisor stat record' records exits of guests, and 'perfvisor stat "
			  "report' shows them; 'perf stat -e cycles:G' counts events in guests");
}

/* ARGV begins with the verb; REST is the index of the first argument that is no option. */
static struct error *run_verb(struct stat_config *config, int argc, char **argv, int rest,
			      int *ret_status)
{
	const char *verb = argc ? argv[0] : NULL;
	struct error *error;

	if (verb && !strcmp(verb, "record")) {
		error = check_for_record(config);
		return error ? error : stat_record(config, argc, argv, rest, ret_status);
	}
	if (!verb || strcmp(verb, "report"))
		return unknown_verb(verb);
	if (rest < argc)
		return error_create(ERROR_USAGE, "stat report takes no argument '%s'", argv[rest]);
	error = check_for_report(config);
	return error ? error : stat_report(config);
}

static struct error *run_stat(const struct command *command, int argc, char **argv,
			      int *ret_status)
{
	struct stat_config config = { .record = RECORD_OPTIONS_DEFAULT };
	int verb, rest = 0;
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, &verb, &help);

	/* Options may come before the verb, and behind it. */
	if (!error && !help && verb < argc)
		error = command_parse(command, &config, argc - verb, argv + verb, &rest, &help);
	if (!error && !help)
		error = run_verb(&config, argc - verb, argv + verb, rest, ret_status);
	record_options_deinit(&config.record);
	return error;
}

static const struct option_spec stat_options[] = {
	RECORDING_INPUT_OPTION(struct stat_config, input),
	{ OPTION_STRING, 0, "event", offsetof(struct stat_config, event), "EVENT",
	  "report: what to count: vmexit (the default), mmio, ioport, msr or hypercall",
	  .completion = COMPLETE_WORDS, .words = "vmexit mmio ioport msr hypercall" },
	{ OPTION_STRING, 0, "by", offsetof(struct stat_config, by), "KEYS",
	  "report: a row for each reason, gsym (function of the guest), vcpu; separated by commas "
	  "(default: reason)",
	  .completion = COMPLETE_WORDS, .words = "reason gsym vcpu" },
	{ OPTION_STRING, 'k', "key", offsetof(struct stat_config, key), "KEY",
	  "report: what to sort by: sample (how many, the default), time (the average), or total "
	  "(time)",
	  .completion = COMPLETE_WORDS, .words = "sample time total" },
	{ OPTION_FLAG, 0, "json", offsetof(struct stat_config, json), NULL, "report: print JSON" },
	RECORD_OPTION(OPTION_STRINGS, 0, "vm", vms, "NAME|PID", "only this VM; may be repeated",
		      .completion = COMPLETE_VM),
	RECORD_OPTION(OPTION_STRINGS, 'p', "pid", pids, "PID",
		      "only the VM of this process; may be repeated", .completion = COMPLETE_VM),
	RECORD_OPTION(OPTION_FLAG, 'a', "all", all, NULL, "all VMs (the default)"),
	RECORD_OPTION(OPTION_STRING, 0, "vcpu", vcpu_text, "LIST",
		      "only these vCPUs: numbers and ranges such as 0-3,7"),
	RECORD_OPTION(OPTION_STRING, 'o', "output", output, "FILE",
		      "record: where to (default: perf.data.guest)", .completion = COMPLETE_FILE),
	RECORD_OPTION(OPTION_SECONDS, 0, "duration", duration_s, "S",
		      "record: end after S seconds"),
	RECORD_GUEST_OPTIONS,
	RECORD_OPTION(OPTION_FLAG, 'f', "force", force, NULL,
		      "record: also replace FILE if it is no recording; report: no effect"),
	{ 0 },
};

const struct command command_stat = {
	.name = "stat",
	.summary = "Count why guests exit, and what it costs",
	.arguments = "record|report [-- COMMAND...]",
	.words = "record report",
	.options = stat_options,
	.examples = "  perfvisor stat record -- sleep 10          # all VMs, for ten seconds\n"
		    "  perfvisor stat report                      # exits by reason, as perf kvm "
		    "stat\n"
		    "  perfvisor stat report --by reason,gsym     # and the guest's functions\n"
		    "  perfvisor stat report --event mmio -k total   # what is accessed, the "
		    "costliest first\n"
		    "  perfvisor stat report --vm web --vcpu 0 --json   # for programs\n",
	.run = run_stat,
};
