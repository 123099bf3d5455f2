/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/line_service.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buffer.h"
#include "base/vector.h"
#include "lines/dwarf_lines.h"
#include "lines/line_wire.h"

struct service {
	int fd;
	VECTOR(struct dwarf_lines *) files;
	struct buffer answer;
};

/* Reads a question; *RET_FILE is the file that came with it, or -1. */
static bool receive(int fd, struct line_question *ret, int *ret_file)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { .iov_base = ret, .iov_len = sizeof(*ret) };
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
	return got == sizeof(*ret);
}

static uint16_t text_bytes(const char *text)
{
	return text ? strnlen(text, LINE_TEXT_MAX_BYTES) : 0;
}

static void append_frame(struct buffer *answer, const struct dwarf_frame *frame)
{
	struct line_wire_frame head = { .line = frame->line,
					.function_bytes = text_bytes(frame->function),
					.file_bytes = text_bytes(frame->file) };

	buffer_append(answer, &head, sizeof(head));
	if (head.function_bytes)
		buffer_append(answer, frame->function, head.function_bytes);
	if (head.file_bytes)
		buffer_append(answer, frame->file, head.file_bytes);
}

static void find(struct service *service, const struct line_question *question,
		 struct dwarf_frames *ret)
{
	ret->count = 0;
	if (question->file < service->files.count && service->files.items[question->file])
		dwarf_lines_find(service->files.items[question->file], question->address, ret);
}

static bool send_all(int fd, const void *data, size_t size)
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

static bool answer(struct service *service, const struct line_question *question)
{
	struct line_answer_header header = { 0 };
	struct dwarf_frames frames;

	buffer_clear(&service->answer);
	buffer_append(&service->answer, &header, sizeof(header));
	find(service, question, &frames);
	for (; header.count < frames.count; header.count++) {
		const struct dwarf_frame *frame = &frames.items[header.count];

		/* The outer ones of too many long names are left out. */
		if (service->answer.size + sizeof(struct line_wire_frame) +
			    text_bytes(frame->function) + text_bytes(frame->file) >
		    sizeof(header) + LINE_ANSWER_MAX_BYTES)
			break;
		append_frame(&service->answer, frame);
	}
	header.bytes = service->answer.size - sizeof(header);
	memcpy(service->answer.data, &header, sizeof(header));
	return send_all(service->fd, service->answer.data, service->answer.size);
}

void line_service_run(int fd)
{
	struct service service = { .fd = fd };
	struct line_question question;
	int file;

	buffer_init(&service.answer, 2 * LINE_ANSWER_MAX_BYTES);
	while (receive(fd, &question, &file)) {
		if (question.kind == LINE_OPEN && file >= 0)
			vector_append(&service.files, dwarf_lines_open(file));
		else if (question.kind != LINE_FIND || !answer(&service, &question))
			break;
	}
	for (size_t i = 0; i < service.files.count; i++)
		dwarf_lines_close(service.files.items[i]);
	vector_deinit(&service.files);
	buffer_deinit(&service.answer);
}
