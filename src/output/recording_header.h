/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording's header says of it, in the lines of `perf report --header-only`. */
#ifndef OUTPUT_RECORDING_HEADER_H
#define OUTPUT_RECORDING_HEADER_H

#include "base/buffer.h"
#include "base/error.h"
#include "session/session.h"

/* ", type = 1, …", the fields of an event's attr that say what it is. */
void recording_header_append_attr(struct buffer *out, const struct perf_event_attr *attr);
/* PATH: of the recording; "-" is none that could be asked when it was written. */
void recording_header_append(struct buffer *out, const struct session *session, const char *path);
/* The same to descriptor FD. A reader that closes the pipe early is no error. */
struct error *recording_header_write(int fd, const struct session *session,
				     const char *path) MUST_CHECK;

#endif
