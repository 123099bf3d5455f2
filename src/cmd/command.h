/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A subcommand: one file, one row in commands.c. Its option table drives parsing, --help,
 * completion and the test that the man page names every option.
 *
 * How to add one: write cmd/NAME.c with a `const struct command command_NAME`, declare it
 * here, add it to the table in commands.c and to src/cmd/meson.build, and write
 * docs/man/perfvisor-NAME.1.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "base/error.h"
#include "base/options.h"

struct command {
	const char *name;
	const char *summary;   /* one line for `perfvisor help` */
	const char *arguments; /* after the options in the usage line, "" if none */
	const struct option_spec *options; /* without --help, which every command has */
	const char *examples;  /* lines "perfvisor …", each with what it does behind a # */
	/*
	 * ARGV[0] is the command's name. The error is printed by main, which also chooses the
	 * exit status: 2 for ERROR_USAGE, else 1; without an error it is *RET_STATUS (0 at first).
	 */
	struct error *(*run)(const struct command *command, int argc, char **argv, int *ret_status);
};

extern const struct command command_list, command_record, command_report, command_script,
	command_fold, command_flamegraph, command_convert, command_symbols, command_ps,
	command_stack, command_doctor, command_completion, command_version, command_help;

/* All commands, in the order of `perfvisor help`; ends with NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name); /* NULL: no such command */

/*
 * Parses ARGV by the command's table. With --help the help is printed and *RET_HELP set:
 * return at once then. *RET_REST: index of the first argument that is no option; a command that
 * takes none passes NULL.
 */
struct error *command_parse(const struct command *command, void *config, int argc, char **argv,
			    int *ret_rest, bool *ret_help) MUST_CHECK;
void command_print_help(const struct command *command);

#endif
