/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown below a row of a profile: the chains of its samples, merged into a tree that is
 * built one level at a time while it is walked:
 *
 *	callgraph_enter(graph, row, &branches);
 *	for each branch of interest: callgraph_descend(graph, branch, &below);
 *
 * As in perf, a tree by callee starts at the row's function and goes to its callers. A tree by
 * caller starts at the outermost function and ends at the row's; if the row includes its children,
 * it starts at the row's function and goes to what that called.
 */
#ifndef PROFILE_CALLGRAPH_H
#define PROFILE_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "profile/profile.h"

struct callgraph_options {
	bool caller;   /* false: callee */
	bool children; /* include samples that have the row's function anywhere in their chain */
};

/* A place in the call tree that a branch passes through. */
struct callgraph_member {
	uint32_t node;
	uint8_t way; /* an enum way of callgraph.c */
	uint64_t period;
};

struct callgraph_branch {
	uint32_t frame; /* index into the tree's frames */
	uint64_t period;
	uint64_t end_period; /* the part from samples that do not go further */
	VECTOR(struct callgraph_member) members;
};

/* Sorted by period, highest first. */
struct callgraph_branches {
	VECTOR(struct callgraph_branch) list;
};

struct callgraph;

/* PROFILE has a tree; borrowed. */
struct callgraph *callgraph_create(const struct profile *profile,
				   const struct callgraph_options *options);
void callgraph_destroy(struct callgraph *graph); /* takes NULL */

/*
 * Adds the first branches of ROW to RET, which must be empty. They are valid until the next call of
 * this function, and again when ROW is entered again.
 */
void callgraph_enter(struct callgraph *graph, const struct profile_row *row,
		     struct callgraph_branches *ret);
/* The branches that follow BRANCH; the same applies. */
void callgraph_descend(struct callgraph *graph, const struct callgraph_branch *branch,
		       struct callgraph_branches *ret);
void callgraph_branches_deinit(struct callgraph_branches *branches);

#endif
