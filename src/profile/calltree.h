/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains of a profile as trees of functions: a root for each group of samples that the
 * keys tell apart (VM, vCPU, command, …, but neither mode, dso nor symbol), below it the
 * outermost functions. A function may stand in several nodes below one.
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
	uint32_t parent; /* its number is lower than the node's; CALLTREE_NONE: a root */
	uint32_t frame;	 /* of a root: its number in roots */
	uint32_t end;	 /* all below it have numbers between its own and this one, exclusive */
	uint32_t row;	 /* the number of the row that it counts for; not of a root */
	uint64_t period, count;		  /* of samples that end here or below */
	uint64_t self_period, self_count; /* that end here */
};

struct calltree_root {
	struct profile_row row; /* its keys; without a location */
	size_t event;
	uint32_t node;
};

struct calltree {
	VECTOR(struct calltree_node) nodes;
	VECTOR(struct chains_frame) frames;
	VECTOR(struct calltree_root) roots;
	/* of chains' cells: where they end; NULL when the profile is complete */
	uint32_t *nodes_of;
};

/*
 * From CHAINS. The rows of roots, whose number is their group until then, and of nodes are the
 * caller's to fill in.
 */
struct calltree *calltree_create(const struct chains *chains);
void calltree_destroy(struct calltree *tree); /* takes NULL */

#endif
