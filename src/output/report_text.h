/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flat profile as text, laid out as `perf report --stdio` does. */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "profile/profile.h"

struct report_text_options {
	struct profile_keys keys;
	bool colour;
	const char *path;	   /* of the recording: named in the first line */
	const char *const *notes; /* lines for the header, NULL ends them; NULL: none */
};

/* Writes to descriptor FD. A reader that closes the pipe early is no error. */
struct error *report_text_write(int fd, const struct profile *profile,
				const struct report_text_options *options) MUST_CHECK;

#endif
