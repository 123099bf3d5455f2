/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording's header says of it, in the lines of `perf report --header-only`. */
#ifndef OUTPUT_RECORDING_HEADER_H
#define OUTPUT_RECORDING_HEADER_H

#include "base/buffer.h"
#include "base/error.h"
#include "session/session.h"

/* PATH: of the recording; "-" is none that could be asked when it was written. */
void recording_header_append(struct buffer *out, const struct session *session, const char *path);
/* The same to descriptor FD. A reader that closes the pipe early is no error. */
struct error *recording_header_write(int fd, const struct session *session,
				     const char *path) MUST_CHECK;

#endif
