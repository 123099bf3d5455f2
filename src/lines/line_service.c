/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lines/line_service.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/vector.h"
#include "lines/dwarf_lines.h"
#include "lines/line_wire.h"
#include "walls/messages.h"

struct service {
	int fd;
	VECTOR(struct dwarf_lines *) files;
	struct buffer answer;
};

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
	return message_send_all(service->fd, service->answer.data, service->answer.size);
}

void line_service_run(int fd)
{
	struct service service = { .fd = fd };
	struct line_question question;
	int file;

	buffer_init(&service.answer, 2 * LINE_ANSWER_MAX_BYTES);
	while (message_receive(fd, &question, sizeof(question), &file)) {
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
