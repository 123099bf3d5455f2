/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands below a row of a profile: the chains of its samples, merged into a tree that is
 * made as it is walked, a level at a time:
 *
 *	callgraph_enter(graph, row, &branches);
 *	for each branch that is worth it: callgraph_descend(graph, branch, &below);
 *
 * As perf's: by callee a tree starts at the row's function and goes to its callers; by caller
 * it starts at the outermost function and ends at the row's, and, where the row counts its
 * children, starts at the row's function and goes to what it called.
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
	bool children; /* of samples that have the row's function anywhere in their chain */
};

/* A place in the call tree that a branch goes through. */
struct callgraph_member {
	uint32_t node;
	uint8_t way; /* of callgraph.c */
	uint64_t period;
};

struct callgraph_branch {
	uint32_t frame; /* in the tree's frames */
	uint64_t period;
	uint64_t end_period; /* part of it: of samples that do not go further */
	VECTOR(struct callgraph_member) members;
};

/* The highest period first. */
struct callgraph_branches {
	VECTOR(struct callgraph_branch) list;
};

struct callgraph;

/* PROFILE has a tree; borrowed. */
struct callgraph *callgraph_create(const struct profile *profile,
				   const struct callgraph_options *options);
void callgraph_destroy(struct callgraph *graph); /* takes NULL */

/*
 * The first branches of ROW, added to RET, which is empty. They hold until the next call of this.
 */
void callgraph_enter(struct callgraph *graph, const struct profile_row *row,
		     struct callgraph_branches *ret);
/* The branches behind BRANCH, likewise. */
void callgraph_descend(struct callgraph *graph, const struct callgraph_branch *branch,
		       struct callgraph_branches *ret);
void callgraph_branches_deinit(struct callgraph_branches *branches);

#endif
