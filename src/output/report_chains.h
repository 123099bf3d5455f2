/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chains below a row of a report, drawn like `perf report --stdio -g graph`. */
#ifndef OUTPUT_REPORT_CHAINS_H
#define OUTPUT_REPORT_CHAINS_H

#include "base/buffer.h"
#include "profile/callgraph.h"

struct report_chains {
	struct callgraph *graph;
	const struct profile *profile;
	bool symbol_first;   /* the row begins with the function, so it is not repeated */
	bool children;	     /* a row's share includes its children */
	uint64_t total;	     /* the period that is 100 % */
	uint64_t min_period; /* smaller branches are left out */
	struct buffer *out;
	uint32_t location; /* of the current row */
};

void report_chains_append(struct report_chains *chains, const struct profile_row *row);

#endif
