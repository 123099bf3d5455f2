/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor help: the list of commands, or one command's help. */
#include "cmd/command.h"

static void print_overview(void)
{
	printf("perfvisor shows, from a KVM host, where its guests spend their time.\n\n"
	       "Usage: perfvisor COMMAND [OPTION]...\n\nCommands:\n");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\n'perfvisor COMMAND --help' shows a command's options, with examples.\n");
}

static struct error *run_help(const struct command *command, int argc, char **argv,
			      int *ret_status)
{
	const struct command *named;
	bool help;
	int rest;
	struct error *error = command_parse(command, NULL, argc, argv, &rest, &help);

	(void)ret_status;
	if (error || help)
		return error;
	if (rest >= argc) {
		print_overview();
		return NULL;
	}
	named = command_find(argv[rest]);
	if (!named)
		return command_unknown(argv[rest]);
	command_print_help(named);
	return NULL;
}

static const struct option_spec help_options[] = { { 0 } };

const struct command command_help = {
	.name = "help",
	.summary = "Show help for perfvisor's commands",
	.arguments = "[COMMAND]",
	.options = help_options,
	.examples = "  perfvisor help           # the list of commands\n"
		    "  perfvisor help record    # the options of record\n",
	.run = run_help,
};
