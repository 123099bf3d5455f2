/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders come by a socket: a kind of cage, to start it, or STOP. The answer is a byte, 1 for
 * success, with the descriptor of the cage's socket (SCM_RIGHTS, unix(7)). The keeper's own end of
 * it is a global, as cages are started deep in libraries that know nothing of walls.
 */
#include "walls/cage_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

#define KEEPER_FD 3 /* in the keeper */
#define STOP 255

static int keeper_fd = -1;

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message(struct iovec *part, union control *control, uint8_t *byte)
{
	*part = (struct iovec){ byte, 1 };
	memset(control, 0, sizeof(*control));
	return (struct msghdr){ .msg_iov = part, .msg_iovlen = 1, .msg_control = control,
				.msg_controllen = sizeof(*control) };
}

static void answer(int fd)
{
	struct iovec part;
	union control control;
	uint8_t byte = fd >= 0;
	struct msghdr said = message(&part, &control, &byte);

	if (fd >= 0) {
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	} else {
		said.msg_controllen = 0;
	}
	(void)!sendmsg(KEEPER_FD, &said, MSG_NOSIGNAL);
}

static void start_cage(enum cage_kind kind, struct cage *cage)
{
	struct error *error = cage_start(kind, cage);

	if (error)
		log_error(error);
	answer(error ? -1 : cage->fd);
	error_destroy(error);
}

/* It has no other files than its socket and stderr: others wait for the ends of pipes. */
static void keep_cages(int fd)
{
	struct cage cage = { .pid = 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	uint8_t order;

	signal(SIGINT, SIG_IGN); /* for the other process, whose end is seen here */
	signal(SIGQUIT, SIG_IGN);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    (fd != KEEPER_FD && dup2(fd, KEEPER_FD) < 0) ||
	    fcntl(KEEPER_FD, F_SETFD, FD_CLOEXEC) < 0 ||
	    syscall(SYS_close_range, KEEPER_FD + 1, ~0U, 0) < 0)
		_exit(1);
	while (recv(KEEPER_FD, &order, 1, 0) == 1) {
		if (cage.pid)
			cage_stop(&cage);
		cage.pid = 0;
		if (order == CAGE_LINES)
			start_cage(order, &cage);
	}
	if (cage.pid)
		cage_stop(&cage);
	_exit(0);
}

struct error *cage_keeper_start(void)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_system(errno, "could not create a socket");
	pid = fork();
	if (!pid)
		keep_cages(ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error_create(ERROR_SYSTEM, "could not start a process");
	}
	keeper_fd = ends[0];
	return NULL;
}

bool cage_keeper_is_there(void)
{
	return keeper_fd >= 0;
}

static int receive_fd(void)
{
	struct iovec part;
	union control control;
	uint8_t byte = 0;
	struct msghdr heard = message(&part, &control, &byte);
	struct cmsghdr *header;
	int fd;

	if (recvmsg(keeper_fd, &heard, MSG_CMSG_CLOEXEC) != 1 || !byte)
		return -1;
	header = CMSG_FIRSTHDR(&heard);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

struct error *cage_keeper_start_cage(enum cage_kind kind, struct cage *ret)
{
	uint8_t order = kind;
	int fd = send(keeper_fd, &order, 1, MSG_NOSIGNAL) == 1 ? receive_fd() : -1;

	if (fd < 0)
		return error_create(ERROR_SYSTEM, "could not have a caged parser started");
	*ret = (struct cage){ .kind = kind, .fd = fd, .complaints_fd = -1 };
	return NULL;
}

void cage_keeper_stop_cage(void)
{
	const uint8_t order = STOP;

	(void)!send(keeper_fd, &order, 1, MSG_NOSIGNAL);
}
