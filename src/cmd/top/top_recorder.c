/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder of top is `perfvisor record -o -` in a process of its own, which has the rights of
 * whoever started top; what shows its records has none. A second pipe carries the word that ends it
 * (record --control), and if the viewer is killed, the kernel ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/top/top.h"

#define STREAM_NS 1800000000000ull /* half an hour: then it begins anew */
#define PIPE_BYTES (1 << 20) /* so that the recorder need not wait while a screen is drawn */

static struct error *run_child(struct top_config *config, int argc, char **argv, int records,
			       int control, int *ret_status)
{
	char control_text[32];

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (dup2(records, STDOUT_FILENO) < 0)
		return error_system(errno, "could not prepare the recorder");
	close(records);
	snprintf(control_text, sizeof(control_text), "fd:%d", control);
	config->record.control = control_text;
	config->record.output = "-";
	config->record.stream_ns = STREAM_NS;
	config->record.quiet = !config->record.verbose;
	return record_run(&config->record, argc, argv, argc, ret_status);
}

struct error *top_recorder_start(struct top_config *config, int argc, char **argv,
				 struct top_recorder *ret, int *ret_status)
{
	int records[2], control[2];
	pid_t pid;

	if (pipe2(records, O_CLOEXEC))
		return error_system(errno, "could not create a pipe");
	if (pipe2(control, O_CLOEXEC)) {
		close(records[0]);
		close(records[1]);
		return error_system(errno, "could not create a pipe");
	}
	fcntl(records[1], F_SETPIPE_SZ, PIPE_BYTES); /* or as large as it is */
	fflush(stdout);
	pid = fork();
	ret->is_child = pid == 0;
	if (ret->is_child) {
		close(records[0]);
		close(control[1]);
		return run_child(config, argc, argv, records[1], control[0], ret_status);
	}
	close(records[1]);
	close(control[0]);
	*ret = (struct top_recorder){ .pid = pid, .records = records[0], .control = control[1] };
	if (pid > 0)
		return NULL;
	close(records[0]);
	close(control[1]);
	ret->pid = 0;
	return error_system(errno, "could not start a process");
}

void top_recorder_stop(struct top_recorder *recorder)
{
	static const char word[] = "stop\n";

	/* If it cannot be told, it has ended. */
	if (recorder->pid && write(recorder->control, word, sizeof(word) - 1) < 0)
		return;
}

struct error *top_recorder_finish(struct top_recorder *recorder, int *ret_status)
{
	int status = 0;

	if (!recorder->pid)
		return NULL;
	close(recorder->records);
	close(recorder->control);
	while (waitpid(recorder->pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_system(errno, "could not wait for the recorder");
	recorder->pid = 0;
	if (WIFSIGNALED(status))
		return error_create(ERROR_SYSTEM, "the recorder was ended by signal %d",
				    WTERMSIG(status));
	*ret_status = WEXITSTATUS(status);
	return NULL;
}
