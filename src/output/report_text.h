/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as text, in the layout of `perf report --stdio`. */
#ifndef OUTPUT_REPORT_TEXT_H
#define OUTPUT_REPORT_TEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "output/report_columns.h"
#include "profile/profile.h"

struct report_text_options {
	struct report_columns columns;
	bool rows_only; /* nothing stands first, neither of the recording nor above columns */
	bool header; /* all that the recording's header says stands first */
	bool info;   /* … with the topology of the machine */
	bool hierarchy; /* the keys as levels of a tree; without children, chains and separator */
	const char *separator; /* one character between columns, which are not padded; NULL: none */
	bool colour;
	bool children; /* for a profile with chains: show the children column; shares are of it */
	bool chains;   /* for a profile with chains: draw them below each row … */
	bool caller;   /* … starting at the outermost function; false: at the innermost */
	double min_percent;	  /* rows with a smaller share are left out */
	double min_chain_percent; /* the same for branches of chains */
	size_t max_rows;	   /* of an event; 0: all */
	const char *heading; /* stands first, instead of what is said of the recording; or NULL */
	const char *path;	   /* the recording's, named in the first line */
	const char *const *notes; /* lines for the header, terminated by NULL; NULL: none */
};

/* Writes to descriptor FD. It is not an error if the reader closes the pipe early. */
struct error *report_text_write(int fd, const struct profile *profile,
				const struct report_text_options *options) MUST_CHECK;

#endif
