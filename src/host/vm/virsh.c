/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of virsh sends many commands: its argument is a list of virsh commands separated by ";"
 * (virsh(1), "COMMAND_STRING"), each "qemu-monitor-command --hmp UUID 'COMMAND'". Its stderr is
 * read as well, for the reason if it fails.
 */
#include "host/vm/virsh.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/progress.h"
#include "base/utf8.h"

#define LIMIT_NS 20000000000ull
#define MAX_LINE_BYTES ((size_t)100 * 1024) /* the kernel limits an argument to 128 KiB */
#define MAX_SAID_BYTES 200

extern char **environ;

/*
 * A user who starts this program does not choose what it believes if it has capabilities of its
 * own: PATH is not heeded then (secure_getenv(3)).
 */
static const char *program(const char *name)
{
	return secure_getenv("PATH") ? name : "/usr/bin/virsh";
}

/* In the background: the caller handles Ctrl-C. */
static struct error *spawn(char *const *arguments, int output, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int result;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, 1);
	posix_spawn_file_actions_adddup2(&files, output, 2);
	result = posix_spawnp(ret, program(arguments[0]), &files, &attributes, arguments,
			      environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return result ? error_create(ERROR_UNSUPPORTED, "could not run %s: %s", arguments[0],
				     strerror(result))
		      : NULL;
}

/* Reads INPUT until its end. */
static struct error *read_all(int input, struct buffer *ret)
{
	uint64_t deadline = clock_monotonic_ns() + LIMIT_NS;
	struct pollfd poll_fd = { .fd = input, .events = POLLIN };
	char bytes[16384];
	ssize_t got;

	for (;;) {
		uint64_t now = clock_monotonic_ns();

		if (now >= deadline)
			return error_create(ERROR_UNSUPPORTED, "virsh does not answer");
		if (poll(&poll_fd, 1, (int)((deadline - now) / 1000000) + 1) <= 0)
			continue;
		got = read(input, bytes, sizeof(bytes));
		if (!got)
			return NULL;
		if (got < 0 && errno != EINTR)
			return error_system(errno, "could not read virsh's output");
		if (got > 0)
			buffer_append(ret, bytes, got);
		if (ret->overflow)
			return error_create(ERROR_BAD_DATA, "virsh printed too much");
	}
}

/* STATUS is from waitpid(); the reason is at the start of what it printed. */
static struct error *failure(int status, const struct buffer *said, size_t before)
{
	size_t length = said->size - before;
	const char *text = (const char *)said->data + before;
	const char *end = length ? memchr(text, '\n', length) : NULL;
	char reason[MAX_SAID_BYTES];

	utf8_printable(text, end ? (size_t)(end - text) : length, reason, sizeof(reason));
	return error_create(ERROR_UNSUPPORTED, "virsh failed (status %d): %s", status, reason);
}

static struct error *run(char *const *arguments, struct buffer *ret)
{
	size_t before = ret->size;
	struct error *error;
	int pipe_fds[2], status = -1;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return error_system(errno, "could not create a pipe");
	error = spawn(arguments, pipe_fds[1], &pid);
	close(pipe_fds[1]);
	if (error) {
		close(pipe_fds[0]);
		return error;
	}
	error = read_all(pipe_fds[0], ret);
	close(pipe_fds[0]);
	if (error)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!error && (!WIFEXITED(status) || WEXITSTATUS(status)))
		error = failure(WIFEXITED(status) ? WEXITSTATUS(status) : -1, ret, before);
	return error;
}

/* Sends as many of COMMANDS as fit in one line, and returns how many. */
static struct error *ask_some(const char *uri, const char *uuid, const char *const *commands,
			      size_t count, size_t *ret_asked, struct buffer *ret)
{
	_cleanup_buffer_ struct buffer line;
	size_t i;

	buffer_init(&line, MAX_LINE_BYTES);
	for (i = 0; i < count && (!i || line.size < MAX_LINE_BYTES / 2); i++)
		buffer_printf(&line, "%sqemu-monitor-command --hmp %s '%s'", i ? "; " : "", uuid,
			      commands[i]);
	buffer_append_u8(&line, 0);
	*ret_asked = i;
	return run((char *const[]){ "virsh", "-q", "-c", (char *)uri, (char *)line.data, NULL },
		   ret);
}

struct error *virsh_ask(bool own_session, const char *uuid, const char *const *commands,
			size_t count, struct buffer *ret)
{
	const char *uri = own_session ? "qemu:///session" : "qemu:///system";
	struct error *error = NULL;

	for (size_t done = 0, asked; done < count && !error; done += asked)
		error = ask_some(uri, uuid, &commands[done], count - done, &asked, ret);
	return error;
}
