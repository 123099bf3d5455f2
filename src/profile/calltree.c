/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains sorted by their functions are a walk through the tree: what a chain has in common with the
 * previous one already exists, and the rest is new and follows directly. So nothing needs to be
 * looked up, and everything below a node follows it.
 *
 * A function may appear twice below another if chains consist of different parts.
 *
 * A few bytes of a compressed recording can be a chain of a thousand frames. So there is a limit of
 * nodes: a million, and 32 for each different chain, which is more than chains need that have
 * callers in common. A chain that would need more is cut: its innermost function follows its group.
 * Chains with few nodes of their own always fit, whatever others need.
 */
#include "profile/calltree.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

#define FREE_NODES (1U << 20)
#define CHAIN_NODES 32
#define NODES_MAX (64U << 20) /* cut chains may need a few more */
#define DEPTH_MAX (2 * CHAINS_FRAMES_MAX)

struct builder {
	struct calltree *tree;
	const struct sequences *sequences;
	/* The current chain: its elements and nodes, starting with the group. */
	uint32_t elements[DEPTH_MAX], nodes[DEPTH_MAX];
	uint32_t wanted[DEPTH_MAX]; /* the elements of the next chain */
	uint32_t depth;
};

/* The indices of the cells, sorted by chain. */
static struct sort_key *order_cells(const struct chains *chains)
{
	const struct chains_cell *cells = chains_cells(chains);
	size_t count = chains_cell_count(chains);
	struct sort_key *order = memory_alloc((count + 1) * sizeof(*order));
	_cleanup_free_ uint32_t *ranks = sequences_rank(chains_sequences(chains));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct sort_key){
			.key = (uint64_t)ranks[cells[i].inner] << 32 | (cells[i].innermost + 1),
			.index = i,
		};
	sort_keys(order, count);
	for (size_t i = 0; i < count; i++)
		order[i].key = ranks[cells[order[i].index].outer];
	sort_keys(order, count);
	return order;
}

/* Everything below the first DEPTH nodes of the chain is complete. */
static void leave(struct builder *builder, uint32_t depth)
{
	while (builder->depth > depth)
		builder->tree->nodes.items[builder->nodes[--builder->depth]].end =
			builder->tree->nodes.count;
}

static void enter(struct builder *builder, uint32_t element)
{
	struct calltree *tree = builder->tree;
	uint32_t number = tree->nodes.count;
	struct calltree_node node = { .parent = CALLTREE_NONE, .frame = element };

	if (builder->depth) {
		node.parent = builder->nodes[builder->depth - 1];
	} else {
		node.frame = tree->roots.count;
		vector_append(&tree->roots,
			      (struct calltree_root){ .node = number,
						       .row.number = element & ~CHAINS_GROUP });
	}
	vector_append(&tree->nodes, node);
	builder->elements[builder->depth] = element;
	builder->nodes[builder->depth++] = number;
}

/* Descends to ELEMENTS, which begin at DEPTH, and returns the depth after them. */
static uint32_t go_to(struct builder *builder, uint32_t depth, const uint32_t *elements,
		      uint32_t count)
{
	uint32_t same = 0;

	while (same < count && depth + same < builder->depth &&
	       builder->elements[depth + same] == elements[same])
		same++;
	if (same == count)
		return depth + count;
	leave(builder, depth + same);
	for (; same < count; same++)
		enter(builder, elements[same]);
	return builder->depth;
}

/* The elements of CELL's chain, the group first. Returns how many there are. */
static uint32_t list_elements(const struct builder *builder, const struct chains_cell *cell,
			      uint32_t *ret)
{
	const struct sequences *sequences = builder->sequences;
	uint32_t outer = sequences_length(sequences, cell->outer);
	uint32_t inner = sequences_length(sequences, cell->inner), count = outer + inner;

	memcpy(ret, sequences_elements(sequences, cell->outer), outer * sizeof(*ret));
	memcpy(ret + outer, sequences_elements(sequences, cell->inner), inner * sizeof(*ret));
	if (cell->innermost != CHAINS_NONE)
		ret[count++] = cell->innermost;
	return count;
}

/* Whether the last COUNT elements of the chain fit, too; PLACED cells did. */
static bool has_room(const struct builder *builder, uint32_t count, size_t placed)
{
	size_t most = FREE_NODES + CHAIN_NODES * (placed + 1);

	if (most > NODES_MAX)
		most = NODES_MAX;
	return builder->tree->nodes.count + count <= most;
}

/* The node where the chain of CELL ends. */
static uint32_t go_to_cell(struct builder *builder, const struct chains_cell *cell, size_t placed)
{
	uint32_t *elements = builder->wanted;
	uint32_t count = list_elements(builder, cell, elements), same = 0;

	while (same < count && same < builder->depth && builder->elements[same] == elements[same])
		same++;
	if (count - same > 2 && !has_room(builder, count - same, placed)) {
		builder->tree->cut_count += cell->count;
		elements[1] = elements[count - 1];
		count = 2;
	}
	return builder->nodes[go_to(builder, 0, elements, count) - 1];
}

static void place_cells(struct builder *builder, const struct chains *chains)
{
	const struct chains_cell *cells = chains_cells(chains);
	size_t count = chains_cell_count(chains);
	_cleanup_free_ struct sort_key *order = order_cells(chains);

	for (size_t i = 0; i < count; i++) {
		const struct chains_cell *cell = &cells[order[i].index];
		uint32_t number = go_to_cell(builder, cell, i);
		struct calltree_node *node = &builder->tree->nodes.items[number];

		builder->tree->nodes_of[order[i].index] = number;
		node->self_period += cell->period;
		node->self_count += cell->count;
	}
	leave(builder, 0);
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

struct calltree *calltree_create(const struct chains *chains)
{
	struct calltree *tree = memory_calloc(1, sizeof(*tree));
	struct builder *builder = memory_alloc(sizeof(*builder));
	const struct chain_frames *frames = chains_frames(chains);

	vector_reserve(&tree->frames, frames->list.count);
	tree->frames.count = frames->list.count;
	if (frames->list.count)
		memcpy(tree->frames.items, frames->list.items,
		       frames->list.count * sizeof(*tree->frames.items));
	tree->nodes_of = memory_alloc((chains_cell_count(chains) + 1) * sizeof(*tree->nodes_of));
	tree->cut_count = chains_left_out(chains);
	builder->tree = tree;
	builder->sequences = chains_sequences(chains);
	builder->depth = 0;
	place_cells(builder, chains);
	sum_up(tree);
	free(builder);
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
