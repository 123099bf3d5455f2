/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that waits for the first byte in a pipe, and becomes the pager then. */
#include "cmd/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/terminal.h"

static bool is_written_to(int pipe)
{
	struct pollfd end = { .fd = pipe, .events = POLLIN };

	while (poll(&end, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return end.revents & POLLIN;
}

/*
 * The environment, and with it the pager, is the choice of whoever started the program, not of its
 * file's owner or group (set-uid, set-gid).
 */
static bool drop_owner(void)
{
	gid_t group = getgid();
	uid_t user = getuid();

	if (group != getegid() && setresgid(group, group, group))
		return false;
	return user == geteuid() || !setresuid(user, user, user);
}

static void run_pager(int read_end)
{
	const char *pager = getenv("PERFVISOR_PAGER");

	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = "less";
	if (!drop_owner())
		_exit(127);
	if (dup2(read_end, STDIN_FILENO) < 0)
		_exit(127);
	if (!is_written_to(STDIN_FILENO))
		_exit(0);
	setenv("LESS", "FRX", 0); /* exit if it fits on a screen; colours; keep the screen */
	execl("/bin/sh", "sh", "-c", *pager ? pager : "cat", (char *)NULL);
	_exit(127);
}

void pager_start(struct pager *pager)
{
	int ends[2];
	pid_t pid;

	/* A terminal that cannot move its cursor shows no pager either. */
	*pager = (struct pager){ .fd = STDOUT_FILENO,
				 .terminal = isatty(STDOUT_FILENO) && !terminal_is_dumb() };
	/* Closing the pipe early, by quitting the pager or with `| head`, is not an error. */
	signal(SIGPIPE, SIG_IGN);
	if (!pager->terminal || pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		run_pager(ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return;
	}
	pager->pid = pid;
	pager->fd = ends[1];
}

void pager_finish(struct pager *pager)
{
	if (!pager->pid)
		return;
	close(pager->fd);
	waitpid(pager->pid, NULL, 0);
	pager->pid = 0;
}
