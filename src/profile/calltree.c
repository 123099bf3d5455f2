/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of chains stand as they were met, the parent before those below it. A walk from function
 * to function would jump through all of memory: here each stands right behind its parent or behind what
 * is below the one beside it, so that a walk goes through them as they lie.
 */
#include "profile/calltree.h"

#include <string.h>

#include "base/memory.h"

/* How many nodes each of NODES is, with all below it. */
static uint32_t *measure(const struct chains_node *nodes, size_t count)
{
	uint32_t *sizes = memory_calloc(count + 1, sizeof(*sizes));

	for (size_t i = count; i-- > 0;) {
		sizes[i]++;
		if (nodes[i].parent != CHAINS_NONE)
			sizes[nodes[i].parent] += sizes[i];
	}
	return sizes;
}

static void place_root(struct calltree *tree, uint32_t number, uint32_t group)
{
	tree->nodes.items[number].parent = CALLTREE_NONE;
	tree->nodes.items[number].frame = tree->roots.count;
	vector_append(&tree->roots, (struct calltree_root){ .node = number, .row.number = group });
}

static void place_nodes(struct calltree *tree, const struct chains_node *nodes, size_t count)
{
	_cleanup_free_ uint32_t *sizes = measure(nodes, count);
	/* Behind the node and what is placed below it so far. */
	_cleanup_free_ uint32_t *free_places = memory_calloc(count + 1, sizeof(*free_places));
	uint32_t top = 0;

	for (size_t i = 0; i < count; i++) {
		bool root = nodes[i].parent == CHAINS_NONE;
		uint32_t *place = root ? &top : &free_places[nodes[i].parent];
		uint32_t number = *place;

		*place += sizes[i];
		free_places[i] = number + 1;
		tree->nodes_of[i] = number;
		tree->nodes.items[number] = (struct calltree_node){
			.frame = nodes[i].frame,
			.end = number + sizes[i],
			.period = nodes[i].period,
			.count = nodes[i].count,
			.self_period = nodes[i].period,
			.self_count = nodes[i].count,
		};
		if (root)
			place_root(tree, number, nodes[i].frame);
		else
			tree->nodes.items[number].parent = tree->nodes_of[nodes[i].parent];
	}
}

static void sum_up(struct calltree *tree)
{
	for (size_t i = tree->nodes.count; i-- > 0;) {
		const struct calltree_node *node = &tree->nodes.items[i];
		struct calltree_node *parent;

		if (node->parent == CALLTREE_NONE)
			continue;
		parent = &tree->nodes.items[node->parent];
		parent->period += node->period;
		parent->count += node->count;
	}
}

struct calltree *calltree_create(const struct chains *chains)
{
	struct calltree *tree = memory_calloc(1, sizeof(*tree));
	size_t count = chains_node_count(chains), frames = chains_frame_count(chains);

	vector_reserve(&tree->frames, frames);
	tree->frames.count = frames;
	if (frames)
		memcpy(tree->frames.items, chains_frames(chains), frames * sizeof(*tree->frames.items));
	vector_reserve(&tree->nodes, count + 1);
	tree->nodes.count = count;
	tree->nodes_of = memory_calloc(count + 1, sizeof(*tree->nodes_of));
	place_nodes(tree, chains_nodes(chains), count);
	sum_up(tree);
	return tree;
}

void calltree_destroy(struct calltree *tree)
{
	if (!tree)
		return;
	vector_deinit(&tree->nodes);
	vector_deinit(&tree->frames);
	vector_deinit(&tree->roots);
	free(tree->nodes_of);
	free(tree);
}
