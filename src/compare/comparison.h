/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between profiles, which may be of different recordings, kernels and builds. Rows are
 * matched by what their keys show, never by address: functions by module and name.
 */
#ifndef COMPARE_COMPARISON_H
#define COMPARE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare/judgement.h"
#include "profile/profile.h"

struct comparison_side {
	struct profile *profile;
	const struct profile_event *event; /* of the profile; NULL: it has no such event */
	/*
	 * The profile has slices of this quantum of time. 0: it has none, because its samples have
	 * no times.
	 */
	uint64_t quantum_ns;
	/*
	 * NULL: shares are compared. Not without times, and only for events whose periods are ns.
	 */
	const struct judgement_time *time;
};

struct comparison_row {
	/* the row that shows the keys: the first side's, if there is one there */
	size_t shown_side;
	const struct profile_row *shown;
	struct comparison_cell *cells; /* one for each side */
};

struct comparison {
	const struct comparison_side *sides; /* borrowed */
	size_t side_count;
	struct profile_keys keys;
	VECTOR(struct comparison_row) rows;
	struct judgement judgement; /* has the cells of all rows */
};

/* SIDES, at least two, are borrowed; the first is the baseline. KEYS are without PROFILE_TIME. */
void comparison_init(struct comparison *comparison, const struct comparison_side *sides,
		     size_t side_count, const struct profile_keys *keys);
void comparison_deinit(struct comparison *comparison);

/*
 * How a difference is expressed, as in perf diff (tools/perf/builtin-diff.c): the difference of the
 * shares; the ratio of the periods; the difference of the periods with weights.
 */
enum comparison_method {
	COMPARISON_DELTA,
	COMPARISON_DELTA_ABS,
	COMPARISON_RATIO,
	COMPARISON_WDIFF,
};
struct comparison_order {
	enum comparison_method method;
	double first_weight, second_weight; /* of COMPARISON_WDIFF */
	size_t side; /* whose difference decides; 0: the first side's share does */
};
/* False: a side has no such row, so there is no ratio and no weighted difference. */
bool comparison_value(const struct comparison_row *row, size_t side,
		      const struct comparison_order *order, double *ret);
/* Highest first; rows without a value are last, by their share. */
void comparison_sort(struct comparison *comparison, const struct comparison_order *order);

#endif
