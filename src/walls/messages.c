/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "walls/messages.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/progress.h"

bool message_send(int fd, const void *data, size_t size, int file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = (void *)data, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (file >= 0) {
		struct cmsghdr *with;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		with = CMSG_FIRSTHDR(&message);
		with->cmsg_level = SOL_SOCKET;
		with->cmsg_type = SCM_RIGHTS;
		with->cmsg_len = CMSG_LEN(sizeof(file));
		memcpy(CMSG_DATA(with), &file, sizeof(file));
	}
	do
		sent = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)size;
}

bool message_is_there(int fd, uint64_t deadline_ns)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t now;

	while ((now = clock_monotonic_ns()) < deadline_ns) {
		int ready = poll(&poll_fd, 1, (int)((deadline_ns - now) / 1000000) + 1);

		if (ready >= 0 || errno != EINTR)
			return ready > 0;
	}
	return false;
}

bool message_await(int fd, uint64_t deadline_ns, void *data, size_t size)
{
	uint8_t *bytes = data;

	while (size) {
		ssize_t got;

		if (!message_is_there(fd, deadline_ns))
			return false;
		got = recv(fd, bytes, size, MSG_DONTWAIT);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		size -= got;
	}
	return true;
}

bool message_receive(int fd, void *data, size_t size, int *ret_file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { .iov_base = data, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *with;
	ssize_t got;

	*ret_file = -1;
	do
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	with = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (with && with->cmsg_level == SOL_SOCKET && with->cmsg_type == SCM_RIGHTS &&
	    with->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_file, CMSG_DATA(with), sizeof(*ret_file));
	return got == (ssize_t)size;
}

bool message_send_all(int fd, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false;
		bytes += sent;
		size -= sent;
	}
	return true;
}
