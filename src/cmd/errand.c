/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order is a byte in a pipe; the pipe's end without one means that there is nothing to do. */
#include "cmd/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

static bool is_ordered(int pipe)
{
	ssize_t got;
	char byte;

	do
		got = read(pipe, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

/* Signals from the terminal are for the other process, whose end is seen here. */
static void ignore_signals(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_IGN);
}

static void wait_and_work(const struct errand_work *work, int pipe)
{
	struct error *error = NULL;
	bool ordered;

	ignore_signals();
	ordered = is_ordered(pipe);
	if (ordered)
		error = work->do_work(work->context);
	if (error)
		log_error(error);
	if (error || !ordered)
		work->give_up(work->context);
	_exit(error ? 1 : 0);
}

struct error *errand_start(const struct errand_work *work, struct errand *ret)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return error_system(errno, "could not create a pipe");
	pid = fork();
	if (!pid) {
		close(ends[1]);
		wait_and_work(work, ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return error_create(ERROR_SYSTEM, "could not start a process");
	}
	*ret = (struct errand){ .pid = pid, .order = ends[1] };
	return NULL;
}

static bool wait_for(struct errand *errand)
{
	int status = 1;

	close(errand->order);
	while (waitpid(errand->pid, &status, 0) < 0 && errno == EINTR)
		;
	errand->pid = 0;
	return !status;
}

bool errand_do(struct errand *errand)
{
	bool ordered = write(errand->order, "", 1) == 1;

	return wait_for(errand) && ordered;
}

void errand_end(struct errand *errand)
{
	if (errand->pid)
		(void)wait_for(errand);
}
