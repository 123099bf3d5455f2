/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of subcommands and the code they share: parsing, --help, usage errors. */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/suggestion.h"
#include "cmd/command.h"

const struct command *const commands[] = {
	&command_list, &command_top, &command_record, &command_report, &command_annotate,
	&command_diff, &command_flamegraph, &command_fold, &command_export, &command_script,
	&command_convert, &command_stat, &command_symbols, &command_ps, &command_stack,
	&command_doctor, &command_completion, &command_version, &command_help, NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* perf's commands that perfvisor does not have, and what to use instead. */
static const struct {
	const char *names, *instead;
} perf_commands[] = {
	{ " kvm ", "every command here is for VMs: 'perfvisor record' is perf kvm's record, "
		   "'perfvisor stat' perf kvm stat" },
	{ " trace ftrace ", "'perfvisor record -e kvm:kvm_exit' records tracepoints" },
	{ " evlist ", "'perfvisor report --header-only' shows a recording's events" },
	{ " inject ", "'perfvisor convert' makes a recording of one guest" },
	{ " archive buildid-cache buildid-list ",
	  "a recording has the guests' symbols; other files are found by build-id" },
	{ " c2c config daemon data iostat kallsyms kmem kwork lock mem probe sched test timechart "
	  "bench ",
	  "there is nothing like it here; perf reads perfvisor's recordings, too" },
};

static const char *perf_command_instead(const char *name)
{
	_cleanup_free_ char *word = memory_printf(" %s ", name);

	for (size_t i = 0; i < sizeof(perf_commands) / sizeof(*perf_commands); i++)
		if (*name && !strchr(name, ' ') && strstr(perf_commands[i].names, word))
			return perf_commands[i].instead;
	return NULL;
}

struct error *command_unknown(const char *name)
{
	struct error *error = error_create(ERROR_USAGE, "unknown command '%s'", name);
	struct suggestion suggestion = { .text = name };
	const char *instead = perf_command_instead(name);

	if (instead)
		return error_hint(error, "%s", instead);
	for (size_t i = 0; commands[i]; i++)
		suggestion_consider(&suggestion, commands[i]->name);
	if (suggestion.best)
		return error_hint(error, "did you mean %s? 'perfvisor help' lists the commands",
				  suggestion.best);
	return error_hint(error, "'perfvisor help' lists the commands");
}

void command_print_help(const struct command *command)
{
	printf("Usage: perfvisor %s%s%s%s\n\n%s.\n", command->name,
	       command->options->type == OPTION_END ? "" : " [OPTION]...",
	       *command->arguments ? " " : "", command->arguments, command->summary);
	if (command->options->type != OPTION_END) {
		printf("\nOptions:\n");
		options_print(command->options, stdout);
	}
	if (command->examples)
		printf("\nExamples:\n%s", command->examples);
	printf("\nThe manual page perfvisor-%s(1) has the details.\n", command->name);
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || (i == 1 && !strcmp(argv[i], "-h")))
			return true;
	return false;
}

/* ARGUMENT is not of an option. */
static struct error *unexpected(const struct command *command, const char *argument)
{
	struct error *error = error_create(ERROR_USAGE, "%s takes no argument '%s'", command->name,
					   argument);

	for (const struct option_spec *spec = command->options; spec->type != OPTION_END; spec++)
		if (spec->short_name == 'i' && spec->name && !strcmp(spec->name, "input") &&
		    !access(argument, F_OK))
			return error_hint(error, "-i %s names a recording", argument);
	return error;
}

struct error *command_parse(const struct command *command, void *config, int argc, char **argv,
			    int *ret_rest, bool *ret_help)
{
	struct error *error;
	int rest;

	*ret_help = asks_for_help(argc, argv);
	if (*ret_help) {
		command_print_help(command);
		return NULL;
	}
	error = options_parse(command->options, config, argc, argv, &rest);
	if (!error && !ret_rest && rest < argc)
		error = unexpected(command, argv[rest]);
	if (error)
		return error_hint(error, "'perfvisor %s --help' lists its options",
				  command->name);
	if (ret_rest)
		*ret_rest = rest;
	return NULL;
}

struct error *command_parse_mixed(const struct command *command, void *config, int argc,
				  char **argv, struct string_list *ret_arguments, bool *ret_help)
{
	struct error *error = NULL;
	int rest = 0;

	*ret_help = false;
	do {
		argc -= rest;
		argv += rest;
		error = command_parse(command, config, argc, argv, &rest, ret_help);
		if (!error && !*ret_help && rest < argc)
			vector_append(ret_arguments, argv[rest]);
	} while (!error && !*ret_help && rest < argc);
	return error;
}
