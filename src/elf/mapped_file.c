/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process is a fork, for a program that opens any file for whoever starts it would be a gift
 * where the program's file has capabilities. It keeps no file of its owner, whose readers wait for
 * the ends of pipes, and ends with it. A question is a struct question, and the answer a byte, with
 * the file next to it if there is one.
 */
#include "elf/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files/untrusted.h"
#include "base/memory.h"
#include "walls/cage.h"
#include "walls/messages.h"
#include "walls/sanitizers.h"

#define OPENER_FD 3 /* in the process */

struct question {
	uint32_t pid;
	uint64_t start, end;
	char path[PATH_MAX];
};

struct mapped_file_opener {
	pid_t pid;
	int fd;
};

/* The other process chose the file, and what is at its path. */
static int open_mapped(const struct question *question)
{
	_cleanup_free_ char *link =
		memory_printf("/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, question->pid,
			      question->start, question->end);
	_cleanup_free_ char *root = memory_printf("/proc/%" PRIu32 "/root", question->pid);
	int fd = -1;
	struct error *error = open_untrusted(UNTRUSTED_ANYWHERE, link,
					     UNTRUSTED_PROC_LINK | UNTRUSTED_NOT_EMPTY, &fd);
	bool try_path = error && error_code(error) != ERROR_BAD_DATA;

	error_destroy(error);
	if (try_path)
		error_destroy(open_untrusted(root, question->path, UNTRUSTED_NOT_EMPTY, &fd));
	return fd;
}

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
	return (fd == OPENER_FD || dup2(fd, OPENER_FD) >= 0) &&
	       syscall(SYS_close_range, OPENER_FD + 1, ~0U, 0) >= 0;
}

static void open_files(int fd)
{
	struct question question;
	const uint8_t word = 0;
	bool goes_on = leave_owner(fd);
	int none;

	while (goes_on && message_receive(OPENER_FD, &question, sizeof(question), &none)) {
		int file = open_mapped(&question);

		goes_on = message_send(OPENER_FD, &word, sizeof(word), file);
		if (file >= 0)
			close(file);
	}
#ifdef __SANITIZE_ADDRESS__
	sanitizer_find_leaks();
#endif
	_exit(0);
}

struct error *mapped_file_opener_start(struct mapped_file_opener **ret)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_system(errno, "could not create a socket");
	pid = fork();
	if (!pid)
		open_files(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error_create(ERROR_SYSTEM, "could not start a process");
	}
	*ret = memory_calloc(1, sizeof(**ret));
	**ret = (struct mapped_file_opener){ .pid = pid, .fd = ends[0] };
	return NULL;
}

bool mapped_file_open(struct mapped_file_opener *opener, const struct mapped_file *file,
		      uint64_t deadline_ns, int *ret_fd)
{
	struct question question = { .pid = file->pid, .start = file->start, .end = file->end };
	uint8_t word;

	*ret_fd = -1;
	if (strlen(file->path) >= sizeof(question.path))
		return true;
	memcpy(question.path, file->path, strlen(file->path));
	return message_send_all(opener->fd, &question, sizeof(question)) &&
	       message_is_there(opener->fd, deadline_ns) &&
	       message_receive(opener->fd, &word, sizeof(word), ret_fd);
}

void mapped_file_opener_stop(struct mapped_file_opener *opener)
{
	if (!opener)
		return;
	close(opener->fd);
	cage_end_process(opener->pid);
	free(opener);
}
