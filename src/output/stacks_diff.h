/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of two profiles, by name, and which parts of the second differ from the first by more
 * than chance.
 */
#ifndef OUTPUT_STACKS_DIFF_H
#define OUTPUT_STACKS_DIFF_H

#include "compare/judgement.h"
#include "output/stacks.h"

struct stacks_diff_side {
	struct stacks_source source; /* counted with chains, by command and, if timed, by time */
	uint64_t quantum_ns; /* of its time; 0: the recording has no times */
};

struct stacks_diff {
	struct stacks *stacks; /* of both; periods and counts are the second's */
	struct base_own {
		uint64_t period, count; /* of the first's samples that end here */
	} *base; /* of each node */
	/* A row for each node: samples that end there or below. The root's is not judged. */
	struct judgement judgement;
	/* Of each function that has samples of its own in either profile, one of its nodes … */
	VECTOR(uint32_t) functions;
	/* … and, in the same order, these samples: as diff compares them by dso and sym */
	struct judgement functions_judgement;
};

/* The first of SIDES is the baseline. */
void stacks_diff_init(struct stacks_diff *diff, const struct stacks_diff_side sides[2]);
void stacks_diff_deinit(struct stacks_diff *diff);

#endif
