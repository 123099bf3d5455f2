/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The call chains below a row of a report, as `perf report --stdio -g graph` draws them. */
#ifndef OUTPUT_REPORT_CHAINS_H
#define OUTPUT_REPORT_CHAINS_H

#include "base/buffer.h"
#include "profile/callgraph.h"

struct report_chains {
	struct callgraph *graph;
	const struct profile *profile;
	bool symbol_first;   /* the row begins with the function: it need not be repeated */
	bool children;	     /* what a row's share is of */
	uint64_t total;	     /* period that percentages are of */
	uint64_t min_period; /* branches with less are left out */
	struct buffer *out;
};

void report_chains_append(struct report_chains *chains, const struct profile_row *row);

#endif
