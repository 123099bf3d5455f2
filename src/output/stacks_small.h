/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges nodes that are too small to be seen, so that a page of many stacks stays small. */
#ifndef OUTPUT_STACKS_SMALL_H
#define OUTPUT_STACKS_SMALL_H

#include "output/stacks.h"

/*
 * If STACKS have more than MAX nodes, keeps the MAX largest by WEIGHTS (of each node but the root's
 * children, no more than its parent's), and the root. Those children of a node that are not kept
 * become one node of the kind STACK_SMALL, with their samples and those below as its own, so that
 * all sums stay. No node leaves the vector, but the others cannot be reached from the root.
 * Returns for each node what it became a part of, itself if it was kept, for the caller to free;
 * NULL: nothing changed.
 */
uint32_t *stacks_merge_small(struct stacks *stacks, const uint64_t *weights, size_t max);

/* The weight of nodes in one profile: their periods. The caller frees it. */
uint64_t *stacks_weights(const struct stacks *stacks);

#endif
