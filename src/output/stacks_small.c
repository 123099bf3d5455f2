/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/stacks_small.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

#define SMALL_NAME "(small)"

uint64_t *stacks_weights(const struct stacks *stacks)
{
	uint64_t *weights = memory_calloc(stacks->nodes.count, sizeof(*weights));

	for (size_t i = 0; i < stacks->nodes.count; i++)
		weights[i] = stacks->nodes.items[i].period;
	return weights;
}

/*
 * The least weight that is kept, of MAX among COUNT nodes. *RET_EQUAL: of so many nodes that have
 * it; the first ones, so that none is without its parent.
 */
static uint64_t find_limit(const uint64_t *weights, size_t count, size_t max, size_t *ret_equal)
{
	_cleanup_free_ struct sort_key *keys = memory_calloc(count, sizeof(*keys));
	size_t first = count - max, at = first;

	for (size_t i = 0; i < count; i++)
		keys[i].key = weights[i];
	sort_keys(keys, count);
	while (at < count && keys[at].key == keys[first].key)
		at++;
	*ret_equal = at - first;
	return keys[first].key;
}

/* Links NODE among the children of PARENT, in their order. */
static void insert_child(struct stacks *stacks, uint32_t parent, uint32_t node)
{
	struct stack_node *nodes = stacks->nodes.items;
	uint32_t *link = &nodes[parent].child;

	while (*link != STACK_NONE && stacks_compare(stacks, *link, node) < 0)
		link = &nodes[*link].sibling;
	nodes[node].sibling = *link;
	*link = node;
}

/* The node that takes what is small below PARENT; SMALL has those that there are. */
static uint32_t small_below(struct stacks *stacks, uint32_t *small, uint32_t parent)
{
	if (small[parent] == STACK_NONE) {
		small[parent] = stacks->nodes.count;
		vector_append(&stacks->nodes,
			      (struct stack_node){ .parent = parent,
						   .child = STACK_NONE,
						   .sibling = STACK_NONE,
						   .name = intern_text(stacks->names, SMALL_NAME),
						   .kind = STACK_SMALL });
	}
	return small[parent];
}

/* Adds NODE, whose parent is kept, and all below it. */
static void take(struct stack_node *small, const struct stack_node *node)
{
	small->period += node->period;
	small->count += node->count;
	small->self_period += node->period;
	small->self_count += node->count;
}

/* Keeps those children of NODE in its list that became no part of another. */
static void keep_children(struct stacks *stacks, uint32_t node, const uint32_t *into)
{
	struct stack_node *nodes = stacks->nodes.items;
	uint32_t *link = &nodes[node].child, at = *link;

	for (; at != STACK_NONE; at = nodes[at].sibling) {
		if (into[at] != at)
			continue;
		*link = at;
		link = &nodes[at].sibling;
	}
	*link = STACK_NONE;
}

uint32_t *stacks_merge_small(struct stacks *stacks, const uint64_t *weights, size_t max)
{
	size_t count = stacks->nodes.count, equal;
	_cleanup_free_ uint32_t *small = NULL;
	uint32_t *into;
	uint64_t limit;

	if (count <= max)
		return NULL;
	limit = find_limit(weights, count, max, &equal);
	small = memory_alloc(count * sizeof(*small));
	into = memory_alloc(count * sizeof(*into));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t parent = stacks->nodes.items[i].parent;

		small[i] = STACK_NONE;
		into[i] = i;
		if (!i || weights[i] > limit || (weights[i] == limit && equal && equal--))
			continue;
		into[i] = into[parent];
		if (into[parent] != parent)
			continue;
		into[i] = small_below(stacks, small, parent);
		take(&stacks->nodes.items[into[i]], &stacks->nodes.items[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (into[i] != i)
			continue;
		keep_children(stacks, i, into);
		if (small[i] != STACK_NONE)
			insert_child(stacks, i, small[i]);
	}
	return into;
}
