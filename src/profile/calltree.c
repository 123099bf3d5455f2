/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of locations become chains of functions: nodes of one parent whose locations read the
 * same are one. A chain's node has a lower number than those below it, so one walk over all of
 * them in their order does, and one backwards sums up.
 */
#include "profile/calltree.h"

#include "base/map.h"
#include "base/memory.h"
#include "profile/node_index.h"

struct builder {
	struct calltree *tree;
	struct identities *functions;
	struct map frames; /* identity and cpumode -> frame + 1 */
	struct node_index index;
};

static uint32_t frame_of(struct builder *builder, uint32_t chains_frame)
{
	uint32_t location = chains_location(chains_frame);
	uint16_t cpumode = chains_cpumode(chains_frame);
	uint64_t identity = identities_find(builder->functions, location, cpumode);
	uint64_t *frame = map_insert(&builder->frames, identity << CHAINS_LEVEL_BITS | cpumode, NULL);

	if (!*frame) {
		vector_append(&builder->tree->frames,
			      (struct calltree_frame){ .location = location, .cpumode = cpumode });
		*frame = builder->tree->frames.count;
	}
	return *frame - 1;
}

static uint32_t append_node(struct calltree *tree, uint32_t parent, uint32_t frame)
{
	vector_append(&tree->nodes,
		      (struct calltree_node){ .parent = parent, .frame = frame,
					      .child = CALLTREE_NONE, .sibling = CALLTREE_NONE });
	return tree->nodes.count - 1;
}

static uint32_t add_root(struct builder *builder, uint32_t group)
{
	struct calltree *tree = builder->tree;
	uint32_t node = append_node(tree, CALLTREE_NONE, tree->roots.count);

	vector_append(&tree->roots, (struct calltree_root){ .node = node, .row.number = group });
	return node;
}

static uint32_t add_node(struct builder *builder, uint32_t parent, uint32_t frame)
{
	struct calltree *tree = builder->tree;
	struct node_list list = { tree->nodes.items, sizeof(*tree->nodes.items) };
	uint32_t *slot = node_index_slot(&builder->index, list, parent, frame);

	if (!*slot) {
		uint32_t node = append_node(tree, parent, frame);

		tree->nodes.items[node].sibling = tree->nodes.items[parent].child;
		tree->nodes.items[parent].child = node;
		*slot = node + 1;
	}
	return *slot - 1;
}

static void sum_up(struct calltree *tree)
{
	for (size_t i = tree->nodes.count; i-- > 0;) {
		struct calltree_node *node = &tree->nodes.items[i], *parent;

		node->period += node->self_period;
		node->count += node->self_count;
		if (node->parent == CALLTREE_NONE)
			continue;
		parent = &tree->nodes.items[node->parent];
		parent->period += node->period;
		parent->count += node->count;
	}
}

struct calltree *calltree_create(struct identities *functions, const struct chains *chains)
{
	struct calltree *tree = memory_calloc(1, sizeof(*tree));
	struct builder builder = { .tree = tree, .functions = functions };
	const struct chains_node *nodes = chains_nodes(chains);
	size_t count = chains_count(chains), capacity = 64;

	while (capacity < 2 * count)
		capacity *= 2;
	map_init(&builder.frames);
	node_index_init(&builder.index, capacity, hash_u64((uintptr_t)tree));
	vector_reserve(&tree->nodes, count + 1);
	tree->nodes_of = memory_calloc(count + 1, sizeof(*tree->nodes_of));
	for (size_t i = 0; i < count; i++) {
		uint32_t node;

		if (nodes[i].parent == CHAINS_NONE)
			node = add_root(&builder, nodes[i].frame);
		else
			node = add_node(&builder, tree->nodes_of[nodes[i].parent],
					frame_of(&builder, nodes[i].frame));
		tree->nodes_of[i] = node;
		tree->nodes.items[node].self_period += nodes[i].period;
		tree->nodes.items[node].self_count += nodes[i].count;
	}
	sum_up(tree);
	map_deinit(&builder.frames);
	node_index_deinit(&builder.index);
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
