/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffered output to a descriptor. The caller must ignore SIGPIPE. */
#include "output/stream.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/* Far more than a line can have. */
#define BUFFER_MAX (64 * 1024 * 1024)

void output_stream_init(struct output_stream *stream, int fd)
{
	*stream = (struct output_stream){ .fd = fd };
	buffer_init(&stream->buffer, BUFFER_MAX);
}

void output_stream_flush(struct output_stream *stream)
{
	const uint8_t *data = stream->buffer.data;
	size_t left = stream->buffer.size;

	while (left && !stream->closed) {
		ssize_t written = write(stream->fd, data, left);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			if (errno != EPIPE)
				stream->error = error_system(errno, "could not write the output");
			stream->closed = true;
			break;
		}
		data += written;
		left -= written;
	}
	buffer_clear(&stream->buffer);
}

struct error *output_stream_finish(struct output_stream *stream)
{
	output_stream_flush(stream);
	buffer_deinit(&stream->buffer);
	return take_pointer(stream->error);
}
