/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QMP: lines of JSON objects. The server sends a greeting ({"QMP": …}), accepts no other command
 * before qmp_capabilities, and answers each command with "return" or "error"; events may precede
 * any answer.
 *
 * QEMU does not reject a second client: it accepts the connection but sends nothing until the first
 * client is gone.
 */
#include "host/vm/qmp.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/files/untrusted.h"
#include "base/utf8.h"
#include "host/system/process.h"
#include "host/vm/qmp_message.h"

/* "info mtree -f" of a large machine takes some 100 KiB */
#define MAX_MESSAGE_BYTES ((size_t)8 << 20)
#define MAX_EVENTS 1000 /* before one answer */
#define GREETING_NS 5000000000ull
#define CONVERSATION_NS 20000000000ull /* in total */
#define MAX_PATH_SHOWN_BYTES 200

struct qmp {
	int fd;
	uint64_t deadline_ns;
	struct buffer received; /* starts with the current message */
	size_t searched;	/* bytes of it without an end of line */
	struct qmp_parser *parser;
	uint32_t id; /* of the last command */
};

void qmp_close(struct qmp *qmp)
{
	if (!qmp)
		return;
	if (qmp->fd >= 0)
		close(qmp->fd);
	buffer_deinit(&qmp->received);
	qmp_parser_destroy(qmp->parser);
	free(qmp);
}

/* Waits until EVENTS are possible on the socket. */
static struct error *wait_for(const struct qmp *qmp, short events)
{
	struct pollfd poll_fd = { .fd = qmp->fd, .events = events };

	for (;;) {
		uint64_t now = clock_monotonic_ns();
		int result;

		if (now >= qmp->deadline_ns)
			return error_create(ERROR_UNSUPPORTED,
					    "QEMU's QMP socket does not answer: it serves only one "
					    "client at a time, and may be in use");
		result = poll(&poll_fd, 1, (int)((qmp->deadline_ns - now) / 1000000) + 1);
		if (result > 0)
			return NULL;
		if (result < 0 && errno == EINTR && interrupt_requested())
			return error_create(ERROR_SYSTEM, "interrupted while waiting for QEMU");
		if (result < 0 && errno != EINTR)
			return error_system(errno, "could not poll QEMU's QMP socket");
	}
}

/* Appends what has arrived, at least one byte. */
static struct error *receive(struct qmp *qmp)
{
	struct error *error = wait_for(qmp, POLLIN);
	char bytes[16384];
	ssize_t got;

	if (error)
		return error;
	got = recv(qmp->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got < 0)
		return error_system(errno, "could not read QEMU's QMP socket");
	if (!got)
		return error_create(ERROR_UNSUPPORTED, "QEMU closed its QMP socket");
	buffer_append(&qmp->received, bytes, got);
	return qmp->received.overflow
		       ? error_create(ERROR_BAD_DATA, "QEMU's QMP answer is too long")
		       : NULL;
}

/* The end of the first message; NULL: it is incomplete. */
static const char *find_end(const struct qmp *qmp)
{
	size_t left = qmp->received.size - qmp->searched;

	return left ? memchr(qmp->received.data + qmp->searched, '\n', left) : NULL;
}

/*
 * Receives the next message, which must be an object. Appends what it returns to TEXT, if that is
 * not NULL; stores why, if it is an error.
 */
static struct error *receive_message(struct qmp *qmp, struct buffer *text,
				     enum qmp_message_kind *ret,
				     char ret_reason[QMP_REASON_BYTES])
{
	const char *newline;
	size_t length;

	while (!(newline = find_end(qmp))) {
		struct error *error;

		qmp->searched = qmp->received.size;
		error = receive(qmp);
		if (error)
			return error;
	}
	length = newline - (const char *)qmp->received.data;
	*ret = qmp_parse(qmp->parser, (const char *)qmp->received.data, length, qmp->id, text,
			 ret_reason);
	qmp->received.size -= length + 1;
	memmove(qmp->received.data, newline + 1, qmp->received.size);
	qmp->searched = 0;
	if (*ret == QMP_MALFORMED)
		return error_create(ERROR_BAD_DATA, "QEMU's QMP socket does not send JSON objects");
	return NULL;
}

static struct error *send_line(struct qmp *qmp, const char *line)
{
	size_t left = strlen(line);

	while (left) {
		struct error *error = wait_for(qmp, POLLOUT);
		ssize_t sent;

		if (error)
			return error;
		sent = send(qmp->fd, line, left, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return error_system(errno, "could not write to QEMU's QMP socket");
		if (sent > 0) {
			line += sent;
			left -= sent;
		}
	}
	return NULL;
}

/*
 * Sends COMMAND, the inside of a JSON object, and waits for its answer, skipping events and answers
 * to commands that were given up. Appends a text to RET, if that is not NULL.
 */
static struct error *execute(struct qmp *qmp, const char *command, struct buffer *ret)
{
	_cleanup_free_ char *line =
		memory_printf("{\"id\": %" PRIu32 ", %s}\n", ++qmp->id, command);
	struct error *error = send_line(qmp, line);

	for (int i = 0; !error && i < MAX_EVENTS; i++) {
		enum qmp_message_kind kind;
		char reason[QMP_REASON_BYTES];

		error = receive_message(qmp, ret, &kind, reason);
		if (!error && kind == QMP_ERROR)
			error = error_create(ERROR_UNSUPPORTED, "QEMU's monitor refused: %s",
					     reason);
		else if (!error && kind == QMP_RETURN)
			return NULL;
	}
	return error ? error : error_create(ERROR_BAD_DATA, "QEMU's QMP socket gave no answer");
}

struct error *qmp_ask(struct qmp *qmp, const char *command, struct buffer *ret)
{
	_cleanup_free_ char *inside = memory_printf("\"execute\": \"human-monitor-command\", "
						    "\"arguments\": {\"command-line\": \"%s\"}",
						    command);
	struct error *error = execute(qmp, inside, ret);

	if (!error && ret->overflow)
		error = error_create(ERROR_BAD_DATA, "QEMU's answers are too long");
	return error;
}

static struct error *greet(struct qmp *qmp)
{
	char reason[QMP_REASON_BYTES];
	enum qmp_message_kind kind;
	struct error *error = receive_message(qmp, NULL, &kind, reason);

	if (error)
		return error;
	if (kind != QMP_GREETING)
		return error_create(ERROR_BAD_DATA, "not a QMP socket");
	qmp->deadline_ns += CONVERSATION_NS - GREETING_NS;
	return execute(qmp, "\"execute\": \"qmp_capabilities\"", NULL);
}

/* What the link NAME of process PID says; "" for nothing. */
static void read_link(uint32_t pid, const char *name, char ret[PATH_MAX])
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	length = readlink(path, ret, PATH_MAX - 1);
	ret[length > 0 ? length : 0] = 0;
}

/* PATH as process PID understands it, below its root folder; the caller frees it. */
static char *path_of_process(uint32_t pid, const char *path)
{
	char root[PATH_MAX], folder[PATH_MAX];
	size_t length;

	if (*path == '/')
		return memory_strdup(path);
	read_link(pid, "root", root);
	read_link(pid, "cwd", folder);
	length = strlen(root);
	if (length == 1 || strncmp(folder, root, length))
		length = 0;
	return memory_printf("%s/%s", folder + length, path);
}

/*
 * Uses a descriptor of the path: PATH may be longer than an address can hold, and is relative to
 * PID's view, out of which no link leads.
 */
static struct error *connect_to(int fd, uint32_t pid, const char *path)
{
	_cleanup_free_ char *root = memory_printf("/proc/%" PRIu32 "/root", pid);
	_cleanup_free_ char *seen = path_of_process(pid, path);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t size = sizeof(peer);
	_cleanup_close_ int file = -1;
	bool secure;
	struct error *error = open_untrusted(root, seen, UNTRUSTED_SOCKET, &file);

	if (error)
		return error_prefix(error, "could not find the socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", file);
	/* EAGAIN: its queue of clients is full. */
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return errno == EAGAIN ? error_create(ERROR_UNSUPPORTED,
						      "too many clients wait for it")
				       : error_system(errno, "could not connect to the socket");
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return error_system(errno, "could not determine the socket's owner");
	/* Anybody can put anything on a command line. */
	if ((uint32_t)peer.pid != pid)
		return error_create(ERROR_UNSUPPORTED, "the socket belongs to another process");
	/* It may have been opened before, and be answered by another process. */
	host_process_layout(pid, &secure);
	if (secure)
		return error_create(ERROR_UNSUPPORTED,
				    "its program has rights of its own (set-uid)");
	return NULL;
}

struct error *qmp_connect(uint32_t pid, const char *path, struct qmp **ret)
{
	_cleanup_qmp_ struct qmp *qmp = memory_calloc(1, sizeof(*qmp));
	char shown[MAX_PATH_SHOWN_BYTES];
	struct error *error;

	utf8_printable(path, strlen(path), shown, sizeof(shown));
	buffer_init(&qmp->received, MAX_MESSAGE_BYTES);
	qmp->parser = qmp_parser_create();
	qmp->deadline_ns = clock_monotonic_ns() + GREETING_NS;
	qmp->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (qmp->fd < 0)
		error = error_system(errno, "could not create a socket");
	else if (!qmp->parser)
		error = error_create(ERROR_SYSTEM, "out of memory for a JSON parser");
	else
		error = connect_to(qmp->fd, pid, path);
	if (!error)
		error = greet(qmp);
	if (error)
		return error_prefix(error, "%s", shown);
	*ret = take_pointer(qmp);
	return NULL;
}
