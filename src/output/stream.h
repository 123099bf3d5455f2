/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buffered output to a descriptor. */
#ifndef OUTPUT_STREAM_H
#define OUTPUT_STREAM_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

struct output_stream {
	struct buffer buffer; /* append here, then call output_stream_line() */
	int fd;
	bool closed; /* the reader closed the pipe (EPIPE): stop silently */
	struct error *error; /* the first write error; owned */
};

void output_stream_init(struct output_stream *stream, int fd);
/* Writes the rest, frees the buffer, and returns the first error. */
struct error *output_stream_finish(struct output_stream *stream) MUST_CHECK;

/* Writes everything that is buffered. */
void output_stream_flush(struct output_stream *stream);

/* A line is complete: writes the buffer if it is full. False: the reader is gone. */
#define OUTPUT_STREAM_BYTES (128 * 1024)
static inline bool output_stream_line(struct output_stream *stream)
{
	if (stream->buffer.size >= OUTPUT_STREAM_BYTES)
		output_stream_flush(stream);
	return !stream->closed;
}

#endif
