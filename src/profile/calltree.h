/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains of a profile as trees of functions. There is a root for each group of samples, as
 * defined by the keys (VM, vCPU, command, …, but not mode, dso or symbol), with the outermost
 * functions below it. A function may have several nodes below the same node.
 */
#ifndef PROFILE_CALLTREE_H
#define PROFILE_CALLTREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "profile/chains.h"
#include "profile/profile.h"

#define CALLTREE_NONE UINT32_MAX

struct calltree_node {
	uint32_t parent; /* its index is lower than the node's; CALLTREE_NONE: a root */
	uint32_t frame;	 /* a root's: index into roots */
	uint32_t end; /* all nodes below have indices between this node's and this one, exclusive */
	uint32_t row;	 /* the number of the row that it counts for; not set in a root */
	/* That of the samples that end here: of an inlined function, its symbol's, as in perf. */
	uint32_t own_row;
	uint64_t period, count;		  /* of samples that end here or below */
	uint64_t self_period, self_count; /* of samples that end here */
};

struct calltree_root {
	struct profile_row row; /* the keys; no location */
	size_t event;
	uint32_t node;
};

struct calltree {
	VECTOR(struct calltree_node) nodes;
	VECTOR(struct chains_frame) frames;
	VECTOR(struct calltree_root) roots;
	uint64_t cut_count; /* at least so many samples lack callers: the tree would be too large */
	/* where chains' cells end; NULL when the profile is complete */
	uint32_t *nodes_of;
};

/*
 * Builds the tree from CHAINS. The caller must fill in the rows of roots, whose number is their
 * group until then, and of nodes.
 */
struct calltree *calltree_create(const struct chains *chains);
void calltree_destroy(struct calltree *tree); /* takes NULL */

#endif
