/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `perfvisor record … -- COMMAND`: the command is forked first and waits for a byte on a pipe, so
 * that the events can be enabled right before it runs. A second pipe, closed by a successful exec,
 * carries the errno of a failed one. The command stays in perfvisor's process group: Ctrl-C reaches
 * both.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/record/record_switch.h"

static void ignore_signal(int number)
{
	(void)number;
}

/* The end of a child must interrupt the wait for samples. */
static void notice_children(void)
{
	struct sigaction action = { .sa_handler = ignore_signal };

	sigemptyset(&action.sa_mask);
	sigaction(SIGCHLD, &action, NULL);
}

static void run_child(char **argv, bool quiet, int go_fd, int failure_fd)
{
	char go;
	int errno_value;

	if (read(go_fd, &go, 1) != 1)
		_exit(127); /* perfvisor gave up */
	record_switch_restore_signal();
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (quiet)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(argv[0], argv);
	errno_value = errno;
	if (write(failure_fd, &errno_value, sizeof(errno_value)) < 0)
		_exit(126);
	_exit(127);
}

static struct error *could_not_run(int errno_value, const char *program)
{
	return error_system(errno_value, "could not run the command '%s'", program);
}

/* 0, or why PATH cannot be run. */
static int try_path(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	return S_ISREG(status.st_mode) && !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? 0 : EACCES;
}

/*
 * As execvp(3): what is forbidden is reported only if nothing else of that name is found. A program
 * with capabilities does not see PATH here: then exec tells.
 */
struct error *record_command_check(const char *program)
{
	const char *path = secure_getenv("PATH");
	_cleanup_free_ char *folders = memory_strdup(path ? path : "");
	char *rest = folders, *folder;
	int reason = ENOENT;

	if (strchr(program, '/')) {
		reason = try_path(program);
		return reason ? could_not_run(reason, program) : NULL;
	}
	while (path && *program && (folder = strsep(&rest, ":"))) {
		_cleanup_free_ char *file = memory_printf("%s/%s", *folder ? folder : ".", program);
		int failure = try_path(file);

		if (!failure)
			return NULL;
		reason = failure == EACCES ? EACCES : reason;
	}
	return path ? could_not_run(reason, program) : NULL;
}

struct error *record_command_prepare(char **argv, bool quiet, struct record_command *ret)
{
	int go[2], failure[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return error_system(errno, "could not create a pipe");
	if (pipe2(failure, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return error_system(errno, "could not create a pipe");
	}
	notice_children();
	pid = fork();
	if (!pid) {
		close(go[1]);
		run_child(argv, quiet, go[0], failure[1]);
	}
	close(go[0]);
	close(failure[1]);
	*ret = (struct record_command){ .pid = pid, .go_fd = go[1], .failure_fd = failure[0],
					 .name = argv[0] };
	if (pid > 0)
		return NULL;
	record_command_finish(ret);
	return error_system(errno, "could not start a process");
}

struct error *record_command_start(struct record_command *command)
{
	int errno_value;
	ssize_t got;

	if (!command->pid)
		return NULL;
	if (write(command->go_fd, "", 1) != 1)
		return error_system(errno, "the command has died");
	do {
		got = read(command->failure_fd, &errno_value, sizeof(errno_value));
	} while (got < 0 && errno == EINTR);
	if (got == sizeof(errno_value))
		return could_not_run(errno_value, command->name);
	return NULL;
}

bool record_command_ended(struct record_command *command)
{
	if (command->pid > 0 && !command->ended &&
	    waitpid(command->pid, &command->wait_status, WNOHANG) == command->pid)
		command->ended = true;
	return command->ended;
}

int record_command_finish(struct record_command *command)
{
	cleanup_close(&command->go_fd);
	cleanup_close(&command->failure_fd);
	if (command->pid <= 0)
		return 0;
	if (!record_command_ended(command)) {
		kill(command->pid, SIGTERM);
		while (waitpid(command->pid, &command->wait_status, 0) < 0 && errno == EINTR)
			;
	}
	command->pid = 0;
	if (WIFSIGNALED(command->wait_status))
		return 128 + WTERMSIG(command->wait_status);
	return WEXITSTATUS(command->wait_status);
}
