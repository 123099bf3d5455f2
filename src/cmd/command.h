/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A subcommand: one file and one row in commands.c. Its option table drives parsing, --help,
 * completion, and the test that checks that the man page names every option.
 *
 * To add one: write cmd/NAME.c with a `const struct command command_NAME`, declare it here, add it
 * to the table in commands.c and to src/cmd/meson.build, and write docs/man/perfvisor-NAME.1.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "base/error.h"
#include "base/options.h"

struct command {
	const char *name;
	const char *summary;   /* one line for `perfvisor help` */
	const char *arguments; /* follows the options in the usage line; "" if none */
	const struct option_spec *options; /* without --help, which every command has */
	const char *words; /* what the first argument may be, separated by spaces; NULL: anything */
	const char *examples;  /* lines "perfvisor …", each with a # comment that explains it */
	/*
	 * ARGV[0] is the command's name. main prints the error and chooses the exit status: 2 for
	 * ERROR_USAGE, 1 for any other error. Without an error the status is *RET_STATUS, initially
	 * 0.
	 */
	struct error *(*run)(const struct command *command, int argc, char **argv, int *ret_status);
};

extern const struct command command_list, command_record, command_report, command_annotate,
	command_diff, command_script, command_fold, command_flamegraph, command_convert,
	command_symbols, command_ps, command_stack, command_stat, command_doctor, command_export,
	command_completion, command_top, command_version, command_help;

/* All commands, in the order of `perfvisor help`; ends with NULL. */
extern const struct command *const commands[];
const struct command *command_find(const char *name); /* NULL: no such command */
/* The error for a NAME that is none. */
struct error *command_unknown(const char *name) MUST_CHECK;

/*
 * Parses ARGV using the command's table. --help prints the help and sets *RET_HELP; the caller must
 * then return at once. *RET_REST is the index of the first argument that is not an option; a
 * command that takes no arguments passes NULL.
 */
struct error *command_parse(const struct command *command, void *config, int argc, char **argv,
			    int *ret_rest, bool *ret_help) MUST_CHECK;
/*
 * The same for a command whose options may also follow its arguments, as in perf. RET_ARGUMENTS, to
 * be freed with vector_deinit(), gets the arguments, which are not copied.
 */
struct error *command_parse_mixed(const struct command *command, void *config, int argc,
				  char **argv, struct string_list *ret_arguments,
				  bool *ret_help) MUST_CHECK;
void command_print_help(const struct command *command);

#endif
