/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recorder prints while a browser has the terminal. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cmd/top/top.h"

#define MAX_TEXT_BYTES ((size_t)1 << 20) /* further lines are not kept */
#define MAX_LINE_BYTES 4096
#define READ_BYTES 4096

void top_messages_init(struct top_messages *messages, int fd)
{
	*messages = (struct top_messages){ .kept = true, .fd = fd };
	buffer_init(&messages->text, MAX_TEXT_BYTES);
	buffer_init(&messages->line, MAX_LINE_BYTES);
}

static void end_line(struct top_messages *messages)
{
	struct buffer *line = &messages->line;

	line->overflow = false;
	if (line->size == MAX_LINE_BYTES)
		line->size--;
	buffer_append_u8(line, 0);
	utf8_append_escaped(&messages->text, (const char *)line->data);
	buffer_append_u8(&messages->text, '\n');
	buffer_clear(line);
}

bool top_messages_read(struct top_messages *messages)
{
	bool whole = false;
	char bytes[READ_BYTES];
	ssize_t got = read(messages->fd, bytes, sizeof(bytes));

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (got <= 0) {
		close(messages->fd);
		messages->fd = -1;
	}
	for (ssize_t i = 0; i < got; i++) {
		if (bytes[i] != '\n') {
			buffer_append_u8(&messages->line, bytes[i]);
			continue;
		}
		end_line(messages);
		whole = true;
	}
	return whole;
}

void top_messages_append_last(const struct top_messages *messages, struct buffer *out)
{
	const uint8_t *text = messages->text.data;
	size_t end = messages->text.size ? messages->text.size - 1 : 0, start = end;

	while (start && text[start - 1] != '\n')
		start--;
	buffer_append(out, text + start, end - start);
}

void top_messages_print(struct top_messages *messages)
{
	if (!messages->kept)
		return;
	if (messages->line.size)
		end_line(messages);
	if (messages->text.size)
		fwrite(messages->text.data, 1, messages->text.size, stderr);
	if (messages->fd >= 0)
		close(messages->fd);
	buffer_deinit(&messages->text);
	buffer_deinit(&messages->line);
}
