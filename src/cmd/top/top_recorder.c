/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder of top is `perfvisor record -o -` in a process of its own, which has the rights of
 * whoever started top; what shows its records has none. A second pipe carries the word that ends it
 * (record --control), and if the viewer is killed, the kernel ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/top/top.h"

#define STREAM_NS 1800000000000ull /* half an hour: then it begins anew */
#define PIPE_BYTES (1 << 20) /* so that the recorder need not wait while a screen is drawn */
#define WAIT_MS 50

/* Pipes to and from a recorder: [0] is read. */
struct pipes {
	int records[2], control[2], messages[2];
};

static void close_pipe(int *ends)
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static void close_pipes(struct pipes *pipes)
{
	close_pipe(pipes->records);
	close_pipe(pipes->control);
	close_pipe(pipes->messages);
}

/* WITH_MESSAGES: what the recorder prints comes through a pipe, too. */
static struct error *open_pipes(bool with_messages, struct pipes *ret)
{
	*ret = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (!pipe2(ret->records, O_CLOEXEC) && !pipe2(ret->control, O_CLOEXEC) &&
	    (!with_messages || !pipe2(ret->messages, O_CLOEXEC))) {
		/* Or as large as it is. */
		fcntl(ret->records[1], F_SETPIPE_SZ, PIPE_BYTES);
		if (with_messages)
			fcntl(ret->messages[0], F_SETFL, O_NONBLOCK);
		return NULL;
	}
	close_pipes(ret);
	return error_system(errno, "could not create a pipe");
}

static struct error *run_child(struct top_config *config, int argc, char **argv,
			       const struct pipes *pipes, int *ret_status)
{
	char control_text[32];

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	close(pipes->records[0]);
	close(pipes->control[1]);
	if (dup2(pipes->records[1], STDOUT_FILENO) < 0 ||
	    (pipes->messages[1] >= 0 && dup2(pipes->messages[1], STDERR_FILENO) < 0))
		return error_system(errno, "could not prepare the recorder");
	close(pipes->records[1]);
	if (pipes->messages[0] >= 0)
		close_pipe((int *)pipes->messages);
	snprintf(control_text, sizeof(control_text), "fd:%d", pipes->control[0]);
	config->record.control = control_text;
	config->record.stop_only = true; /* the viewer may be in the hands of a guest */
	config->record.output = "-";
	config->record.stream_ns = STREAM_NS;
	config->record.quiet = !config->record.verbose;
	return record_run(&config->record, argc, argv, argc, ret_status);
}

struct error *top_recorder_start(struct top_config *config, int argc, char **argv,
				 struct top_recorder *ret, int *ret_status)
{
	struct pipes pipes;
	struct error *error = open_pipes(config->browses, &pipes);
	pid_t pid;

	if (error)
		return error;
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		close_pipes(&pipes);
		return error_system(errno, "could not start a process");
	}
	ret->is_child = pid == 0;
	if (ret->is_child)
		return run_child(config, argc, argv, &pipes, ret_status);
	close(pipes.records[1]);
	close(pipes.control[0]);
	*ret = (struct top_recorder){ .pid = pid, .records = pipes.records[0],
				      .control = pipes.control[1] };
	if (!config->browses)
		return NULL;
	close(pipes.messages[1]);
	top_messages_init(&ret->messages, pipes.messages[0]);
	return NULL;
}

void top_recorder_stop(struct top_recorder *recorder)
{
	static const char word[] = "stop\n";

	/* If it cannot be told, it has ended. */
	if (recorder->pid && write(recorder->control, word, sizeof(word) - 1) < 0)
		return;
}

static bool has_bytes(int fd)
{
	struct pollfd input = { .fd = fd, .events = POLLIN };

	return poll(&input, 1, 0) > 0;
}

/*
 * As waitpid(). Meanwhile what it prints is taken, for which it may be waiting. Others that it has
 * started may have the other end of that pipe, so its end is not that of the recorder.
 */
static pid_t wait_for(struct top_recorder *recorder, int *ret_status)
{
	struct top_messages *messages = &recorder->messages;
	pid_t pid;

	do {
		struct pollfd input = { .fd = messages->fd, .events = POLLIN };
		bool waits = !messages->kept || messages->fd < 0;

		if (!waits && poll(&input, 1, WAIT_MS) > 0)
			top_messages_read(messages);
		pid = waitpid(recorder->pid, ret_status, waits ? 0 : WNOHANG);
	} while (!pid || (pid < 0 && errno == EINTR));
	while (messages->kept && messages->fd >= 0 && has_bytes(messages->fd))
		top_messages_read(messages);
	return pid;
}

struct error *top_recorder_finish(struct top_recorder *recorder, int *ret_status)
{
	int status = 0;

	if (!recorder->pid)
		return NULL;
	close(recorder->records);
	close(recorder->control);
	if (wait_for(recorder, &status) < 0)
		return error_system(errno, "could not wait for the recorder");
	recorder->pid = 0;
	if (WIFSIGNALED(status))
		return error_create(ERROR_SYSTEM, "the recorder was ended by signal %d",
				    WTERMSIG(status));
	*ret_status = WEXITSTATUS(status);
	return NULL;
}
