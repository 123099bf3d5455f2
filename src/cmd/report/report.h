/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of report, and what it shows other than rows. */
#ifndef CMD_REPORT_REPORT_H
#define CMD_REPORT_REPORT_H

#include "base/error.h"
#include "cmd/filter_options.h"
#include "cmd/pager.h"
#include "session/session.h"

struct report_config {
	const char *input;
	const char *sort;
	const char *graph; /* argument of -g; NULL: not given */
	const char *percent_limit;
	const char *fields, *separator, *widths, *time_quantum;
	const char *page; /* the file that --html names; NULL: not given */
	bool stdio, json, children, no_children, sample_counts, header, header_only, hierarchy;
	bool info;
	bool branches, no_branches, inlined, no_inlined;
	bool inverted, quiet, force;
	uint64_t max_stack; /* 0: not given */
	bool browses; /* on a terminal, unless an option wants text */
	const char *percentage;
	struct filter_options filters;
	struct kernel_source_options symbols;
};

/* Of the branches before the samples, as perf does where there are any. */
struct error *report_branches(const struct report_config *config, struct session *session,
			      const char *path, const struct pager *pager) MUST_CHECK;

/* Writes a page for a browser; raises the walls. RET_STATUS is the command's. */
struct error *report_page(const struct report_config *config, int *ret_status) MUST_CHECK;

#endif
