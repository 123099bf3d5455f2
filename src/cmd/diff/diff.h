/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor diff: its options, and what it compares. */
#ifndef CMD_DIFF_DIFF_H
#define CMD_DIFF_DIFF_H

#include "cmd/filter_options.h"
#include "cmd/recording.h"
#include "compare/comparison.h"

struct diff_config {
	const char *sort, *compute, *weights, *separator, *percent_limit, *output;
	uint64_t order;
	double fail_over; /* 0: not given */
	bool baseline_only, periods, flamegraph, force;
	struct filter_options filters;
	struct kernel_source_options symbols;
};

/* One side: a recording, or a VM of one. */
struct diff_side {
	struct session *session; /* may be that of another side, too */
	bool owns_session;
	char *label;	/* the file, and the VM if the file has several sides; owned */
	const char *path; /* borrowed */
	const char *vm; /* NULL: the whole recording */
	struct filter filter;
	struct profile *profile;
	uint64_t quantum_ns; /* its time was counted in such blocks; 0: it has no times */
	struct judgement_time time; /* if it has times */
};

struct diff_sides {
	struct diff_side items[COMPARISON_MAX_SIDES];
	size_t count;
};

/*
 * Finds and opens what is to be compared: PATHS, which may be none, and the VMs of CONFIG. RET must
 * be freed with diff_sides_deinit(), even after an error.
 */
struct error *diff_sides_open(const struct diff_config *config, const struct string_list *paths,
			      struct diff_sides *ret) MUST_CHECK;
/* Counts each side by OPTIONS, which are without a filter, and by time in blocks. */
struct error *diff_sides_count(const struct diff_config *config, struct diff_sides *sides,
			       const struct profile_options *options) MUST_CHECK;
/*
 * The next event to compare, one that all sides have, or the only one of each side, whatever its
 * name. *AT is 0 for the first. RET has room for all sides. False: there are no more.
 */
bool diff_sides_next_event(const struct diff_sides *sides, size_t *at,
			   struct comparison_side *ret);
/*
 * The events of COMPARED, one of each side, are to be compared by the time that they stand for. An
 * error if that cannot be known.
 */
struct error *diff_sides_weigh_by_time(const struct diff_sides *sides,
				       struct comparison_side *compared) MUST_CHECK;
struct error *diff_no_event(void) MUST_CHECK; /* for when there was none */
void diff_sides_deinit(struct diff_sides *sides);

#define DIFF_PAGE_OUTPUT "diff.html" /* the page, if no other is named */

/* Writes a flame graph of the second side, coloured by how it differs from the first. */
struct error *diff_page(const struct diff_config *config, const struct string_list *paths,
			int *ret_status) MUST_CHECK;

#endif
