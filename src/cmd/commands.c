/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of subcommands and the code they share: parsing, --help, usage errors. */
#include <string.h>

#include "base/memory.h"
#include "base/suggestion.h"
#include "cmd/command.h"

const struct command *const commands[] = {
	&command_list, &command_top, &command_record, &command_report, &command_diff,
	&command_flamegraph, &command_fold, &command_export, &command_script, &command_convert,
	&command_symbols, &command_ps, &command_stack, &command_doctor, &command_completion,
	&command_version, &command_help, NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

struct error *command_unknown(const char *name)
{
	struct error *error = error_create(ERROR_USAGE, "unknown command '%s'", name);
	struct suggestion suggestion = { .text = name };

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
		error = error_create(ERROR_USAGE, "%s takes no argument '%s'", argv[0], argv[rest]);
	if (error)
		return error_hint(error, "'perfvisor %s --help' lists its options",
				  command->name);
	if (ret_rest)
		*ret_rest = rest;
	return NULL;
}
