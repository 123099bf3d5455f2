/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages over a stream socket: a header, then the body. */
#include "guest/wire.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/progress.h"

static struct error *send_all(int fd, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	while (size) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN)
			return error_create(ERROR_BAD_DATA, "the guest parser took too long");
		if (sent < 0)
			return error_system(errno, "could not write to the guest parser");
		bytes += sent;
		size -= sent;
	}
	return NULL;
}

struct error *guest_wire_send(int fd, enum guest_message type, const void *data, size_t size)
{
	struct guest_message_header header = { .type = type, .bytes = size };
	struct error *error;

	if (size > GUEST_MESSAGE_MAX)
		return error_create(ERROR_BAD_DATA, "a message of %zu bytes is too long", size);
	error = send_all(fd, &header, sizeof(header));
	return error ? error : send_all(fd, data, size);
}

static struct error *wait_readable(int fd, uint64_t deadline_ns)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t now;

	if (!deadline_ns)
		return NULL;
	while ((now = clock_monotonic_ns()) < deadline_ns) {
		int ready = poll(&poll_fd, 1, (int)((deadline_ns - now) / 1000000) + 1);

		if (ready > 0 || (ready < 0 && errno != EINTR))
			return NULL; /* recv() shows what it is */
	}
	return error_create(ERROR_BAD_DATA, "the guest parser took too long");
}

static struct error *receive_all(int fd, uint64_t deadline_ns, void *data, size_t size)
{
	uint8_t *bytes = data;

	while (size) {
		struct error *error = wait_readable(fd, deadline_ns);
		ssize_t got;

		if (error)
			return error;
		got = recv(fd, bytes, size, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_system(errno, "could not read from the guest parser");
		if (!got)
			return error_create(ERROR_SYSTEM, "the guest parser exited");
		bytes += got;
		size -= got;
	}
	return NULL;
}

struct error *guest_wire_receive(int fd, uint64_t deadline_ns, uint32_t *ret_type,
				 struct buffer *body)
{
	struct guest_message_header header;
	struct error *error = receive_all(fd, deadline_ns, &header, sizeof(header));
	void *bytes;

	if (error)
		return error;
	buffer_clear(body);
	bytes = buffer_extend(body, header.bytes);
	if (header.bytes && !bytes)
		return error_create(ERROR_BAD_DATA, "a message of %u bytes is too long",
				    header.bytes);
	error = receive_all(fd, deadline_ns, bytes, header.bytes);
	if (!error)
		*ret_type = header.type;
	return error;
}
