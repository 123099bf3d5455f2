/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison as text, in the layout of perf diff (tools/perf/builtin-diff.c): the baseline's
 * share, the difference, the keys. In addition: the interval of each difference, and whether it is
 * more than chance.
 */
#ifndef OUTPUT_DIFF_TEXT_H
#define OUTPUT_DIFF_TEXT_H

#include <stdbool.h>

#include "base/error.h"
#include "compare/comparison.h"

struct diff_text_options {
	struct comparison_order order;
	const char *const *labels; /* of the sides: files and VMs */
	const char *separator;	   /* of columns, which are then not padded; NULL: blanks */
	bool baseline_only;	   /* leave out rows that the first side does not have */
	bool periods;		   /* also show periods */
	double min_percent;	   /* leave out rows that have less in each side */
	bool colour;
	bool by_time; /* the sides are compared by time */
};

/* Prints the differences of event NAME. The reader of a pipe that is gone is no error. */
struct error *diff_text_write(int fd, const struct comparison *comparison, const char *name,
			      const struct diff_text_options *options) MUST_CHECK;

#endif
