/* SPDX-License-Identifier: GPL-2.0-or-later */
/* It keeps no file of its owner, whose readers wait for the ends of pipes. */
#include "walls/servant.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "walls/cage.h"

#define SERVANT_FD 3 /* in the process */

/* Signals from the terminal are for the owner, whose end is seen here. */
static bool leave_owner(int fd)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_IGN);
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (null < 0 || dup2(null, i) < 0)
			return false;
	return (fd == SERVANT_FD || dup2(fd, SERVANT_FD) >= 0) &&
	       syscall(SYS_close_range, SERVANT_FD + 1, ~0U, 0) >= 0;
}

struct error *servant_start(void (*serve)(int fd, void *context), void *context,
			    struct servant *ret)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_system(errno, "could not create a socket");
	pid = fork();
	if (!pid) {
		if (leave_owner(ends[1]))
			serve(SERVANT_FD, context);
		_exit(0);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error_create(ERROR_SYSTEM, "could not start a process");
	}
	*ret = (struct servant){ .pid = pid, .fd = ends[0] };
	return NULL;
}

void servant_stop(struct servant *servant)
{
	if (!servant->pid)
		return;
	close(servant->fd);
	cage_end_process(servant->pid);
	servant->pid = 0;
}
