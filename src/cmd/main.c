/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor's entry point: finds the subcommand, prints the error that it returns, and chooses the
 * exit status: 0 success, 1 failure, 2 wrong usage.
 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cmd/caged_parser.h"
#include "cmd/command.h"

static int finish(struct error *error, int status)
{
	/* A full disk or a closed pipe shows up only when the last bytes are written. */
	if (!error && (fflush(stdout) || ferror(stdout)) && errno != EPIPE)
		error = error_system(errno, "could not write the output");
	if (!error)
		return status;
	log_error(error);
	status = error_code(error) == ERROR_USAGE ? 2 : 1;
	error_destroy(error);
	return status;
}

static const char *command_name(const char *argument)
{
	if (!strcmp(argument, "--help") || !strcmp(argument, "-h"))
		return "help";
	if (!strcmp(argument, "--version") || !strcmp(argument, "-V"))
		return "version";
	return argument;
}

int main(int argc, char **argv)
{
	const struct command *command;
	enum cage_kind caged;
	struct error *error;
	int status = 0;

	if (argc < 2) {
		char *help[] = { "help", NULL };

		/* The overview helps new users, but nothing was done, and scripts should notice. */
		return finish(command_help.run(&command_help, 1, help, &status), 2);
	}
	if (caged_parser_find(argv[1], &caged))
		return finish(caged_parser_run(caged), 1);
	command = command_find(command_name(argv[1]));
	if (!command)
		return finish(command_unknown(argv[1]), 0);
	error = command->run(command, argc - 1, argv + 1, &status);
	return finish(error, status);
}
