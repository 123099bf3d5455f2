/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording's header says of it, in the lines of `perf report --header-only -I`. */
#ifndef OUTPUT_HEADER_RECORDING_HEADER_H
#define OUTPUT_HEADER_RECORDING_HEADER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "session/session.h"

/*
 * PATH: of the recording; "-" is none that could be asked when it was written. FULL: with the
 * topology of CPUs and memory, and with caches (perf's -I).
 */
void recording_header_append(struct buffer *out, const struct session *session, const char *path,
			     bool full);
/* The same to descriptor FD. A reader that closes the pipe early is no error. */
struct error *recording_header_write(int fd, const struct session *session,
				     const char *path, bool full) MUST_CHECK;

#endif
