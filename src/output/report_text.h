/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as text, laid out as `perf report --stdio` does. */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "profile/profile.h"

struct report_text_options {
	struct profile_keys keys;
	bool colour;
	bool children; /* of a profile with chains: the column, and what shares are of */
	bool chains;   /* likewise: draw them below each row … */
	bool caller;   /* … from the outermost function on; false: from the innermost */
	double min_percent;	  /* rows with a smaller share are left out */
	double min_chain_percent; /* likewise branches of chains */
	const char *path;	   /* of the recording: named in the first line */
	const char *const *notes; /* lines for the header, NULL ends them; NULL: none */
};

/* Writes to descriptor FD. A reader that closes the pipe early is no error. */
struct error *report_text_write(int fd, const struct profile *profile,
				const struct report_text_options *options) MUST_CHECK;

#endif
