/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A branch is a list of places in the call tree that are the same so far; what follows it is what
 * follows each of them, merged by function. Only what is asked for is merged: a report asks for
 * what is above its threshold.
 *
 * perf counts a sample once for each function in its chain (iter_add_next_cumulative_entry() in
 * tools/perf/util/hist.c): with the whole chain for the function in which it was taken, and for the
 * others with the part of the chain that begins at the function. By caller the part begins at the
 * function's outermost call, by callee at its innermost. enum way distinguishes these parts.
 */
#include "profile/callgraph.h"

#include <stdlib.h>

#include "base/memory.h"
#include "profile/calltree.h"

enum way {
	WAY_TO_ROW, /* down to where the row's own samples end: weights[] */
	WAY_BELOW,  /* down to everything below */
	WAY_UP,	    /* to the callers; the weight goes with the member */
};

/* Nodes of the same row are adjacent, from starts[number] up to starts[number + 1]. */
struct by_row {
	uint32_t *nodes;
	size_t *starts;
};

struct callgraph {
	const struct profile *profile;
	const struct calltree *tree;
	struct callgraph_options options;
	struct by_row nodes; /* of each row */
	struct by_row ends;  /* where each row's own samples end: differs from nodes if inlined */
	uint64_t *weights; /* for each node: period of the row's own samples in it and below */
	uint32_t *firsts, *nexts; /* for each node: lists of children with a weight */
	uint32_t *slots;   /* for each frame: its index + 1 in the list being built */
	uint32_t row;	   /* the number of the row entered last */
	bool entered;
};

static uint32_t row_of(const struct calltree_node *node, bool own)
{
	return own ? node->own_row : node->row;
}

static void list_by_row(const struct profile *profile, bool own, struct by_row *ret)
{
	const struct calltree *tree = profile->tree;
	size_t *starts = memory_calloc(profile->row_count + 2, sizeof(*starts));

	ret->nodes = memory_calloc(tree->nodes.count + 1, sizeof(*ret->nodes));
	ret->starts = starts;
	for (size_t i = 0; i < tree->nodes.count; i++)
		if (tree->nodes.items[i].parent != CALLTREE_NONE)
			starts[row_of(&tree->nodes.items[i], own) + 2]++;
	for (size_t i = 2; i < profile->row_count + 2; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < tree->nodes.count; i++)
		if (tree->nodes.items[i].parent != CALLTREE_NONE)
			ret->nodes[starts[row_of(&tree->nodes.items[i], own) + 1]++] = i;
}

static bool has_inlined(const struct calltree *tree)
{
	for (size_t i = 0; i < tree->nodes.count; i++)
		if (tree->nodes.items[i].parent != CALLTREE_NONE &&
		    tree->nodes.items[i].own_row != tree->nodes.items[i].row)
			return true;
	return false;
}

struct callgraph *callgraph_create(const struct profile *profile,
				   const struct callgraph_options *options)
{
	struct callgraph *graph = memory_calloc(1, sizeof(*graph));
	const struct calltree *tree = profile->tree;

	graph->profile = profile;
	graph->tree = tree;
	graph->options = *options;
	list_by_row(profile, false, &graph->nodes);
	graph->ends = graph->nodes;
	if (has_inlined(tree))
		list_by_row(profile, true, &graph->ends);
	graph->weights = memory_calloc(tree->nodes.count + 1, sizeof(*graph->weights));
	graph->firsts = memory_calloc(tree->nodes.count + 1, sizeof(*graph->firsts));
	graph->nexts = memory_calloc(tree->nodes.count + 1, sizeof(*graph->nexts));
	for (size_t i = 0; i < tree->nodes.count; i++)
		graph->firsts[i] = CALLTREE_NONE;
	graph->slots = memory_calloc(tree->frames.count + 1, sizeof(*graph->slots));
	return graph;
}

void callgraph_destroy(struct callgraph *graph)
{
	if (!graph)
		return;
	if (graph->ends.nodes != graph->nodes.nodes) {
		free(graph->ends.nodes);
		free(graph->ends.starts);
	}
	free(graph->nodes.nodes);
	free(graph->nodes.starts);
	free(graph->weights);
	free(graph->firsts);
	free(graph->nexts);
	free(graph->slots);
	free(graph);
}

void callgraph_branches_deinit(struct callgraph_branches *branches)
{
	for (size_t i = 0; i < branches->list.count; i++)
		vector_deinit(&branches->list.items[i].members);
	vector_deinit(&branches->list);
}

static const struct calltree_node *node_of(const struct callgraph *graph, uint32_t node)
{
	return &graph->tree->nodes.items[node];
}

static bool is_root(const struct callgraph *graph, uint32_t node)
{
	return node_of(graph, node)->parent == CALLTREE_NONE;
}

/* The part of MEMBER's period that does not go further. */
static uint64_t end_of(const struct callgraph *graph, const struct callgraph_member *member)
{
	const struct calltree_node *node = node_of(graph, member->node);

	switch ((enum way)member->way) {
	case WAY_TO_ROW:
		return node->own_row == graph->row ? node->self_period : 0;
	case WAY_BELOW:
		return node->own_row == graph->row ? 0 : node->self_period;
	case WAY_UP:
		return is_root(graph, node->parent) ? member->period : 0;
	}
	return 0;
}

static void add_member(struct callgraph *graph, struct callgraph_branches *branches, uint32_t node,
		       enum way way, uint64_t period)
{
	struct callgraph_member member = { .node = node, .way = way, .period = period };
	uint32_t frame = node_of(graph, node)->frame;
	struct callgraph_branch *branch;

	if (!period)
		return;
	if (!graph->slots[frame]) {
		vector_append(&branches->list, (struct callgraph_branch){ .frame = frame });
		graph->slots[frame] = branches->list.count;
	}
	branch = &branches->list.items[graph->slots[frame] - 1];
	branch->period += period;
	branch->end_period += end_of(graph, &member);
	vector_append(&branch->members, member);
}

/* Highest period first; if equal, the function at the lower address. */
static int compare(const void *left, const void *right)
{
	const struct callgraph_branch *a = left, *b = right;

	if (a->period != b->period)
		return a->period < b->period ? 1 : -1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

static void finish(struct callgraph *graph, struct callgraph_branches *branches)
{
	for (size_t i = 0; i < branches->list.count; i++)
		graph->slots[branches->list.items[i].frame] = 0;
	if (branches->list.count)
		qsort(branches->list.items, branches->list.count, sizeof(*branches->list.items),
		      compare);
}

/* The nearest node above NODE with the same row; CALLTREE_NONE: there is none. */
static uint32_t same_above(const struct callgraph *graph, uint32_t node)
{
	uint32_t row = node_of(graph, node)->row, at = node_of(graph, node)->parent;

	while (!is_root(graph, at) && node_of(graph, at)->row != row)
		at = node_of(graph, at)->parent;
	return is_root(graph, at) ? CALLTREE_NONE : at;
}

static uint32_t root_of(const struct callgraph *graph, uint32_t node)
{
	while (!is_root(graph, node))
		node = node_of(graph, node)->parent;
	return node;
}

struct some_nodes {
	const uint32_t *items;
	size_t count;
};

static struct some_nodes nodes_of(const struct by_row *by_row, uint32_t row)
{
	return (struct some_nodes){ .items = by_row->nodes + by_row->starts[row],
				    .count = by_row->starts[row + 1] - by_row->starts[row] };
}

/* Adds the row's own samples in its nodes to the weights of all nodes above. */
static void weigh(struct callgraph *graph)
{
	struct some_nodes ends = nodes_of(&graph->ends, graph->row);

	for (size_t i = 0; i < ends.count; i++) {
		uint64_t period = node_of(graph, ends.items[i])->self_period;

		for (uint32_t at = ends.items[i]; period && !is_root(graph, at);
		     at = node_of(graph, at)->parent) {
			uint32_t *first = &graph->firsts[node_of(graph, at)->parent];

			if (!graph->weights[at]) {
				graph->nexts[at] = *first;
				*first = at;
			}
			graph->weights[at] += period;
		}
	}
}

/* Undoes weigh(). */
static void unweigh(struct callgraph *graph)
{
	struct some_nodes ends = nodes_of(&graph->ends, graph->row);

	for (size_t i = 0; i < ends.count; i++)
		for (uint32_t at = ends.items[i]; graph->weights[at];
		     at = node_of(graph, at)->parent) {
			graph->firsts[node_of(graph, at)->parent] = CALLTREE_NONE;
			graph->weights[at] = 0;
		}
}

static void add_weighed(struct callgraph *graph, struct callgraph_branches *branches, uint32_t node)
{
	for (uint32_t at = graph->firsts[node]; at != CALLTREE_NONE; at = graph->nexts[at])
		add_member(graph, branches, at, WAY_TO_ROW, graph->weights[at]);
}

static void add_below(struct callgraph *graph, struct callgraph_branches *branches, uint32_t node)
{
	for (uint32_t at = node + 1; at < node_of(graph, node)->end; at = node_of(graph, at)->end)
		add_member(graph, branches, at, WAY_BELOW,
			   node_of(graph, at)->period - graph->weights[at]);
}

static void enter_by_caller(struct callgraph *graph, const struct some_nodes *nodes,
			    struct callgraph_branches *ret)
{
	weigh(graph);
	add_weighed(graph, ret, root_of(graph, nodes->items[0]));
	for (size_t i = 0; graph->options.children && i < nodes->count; i++) {
		uint32_t node = nodes->items[i];

		if (same_above(graph, node) == CALLTREE_NONE)
			add_member(graph, ret, node, WAY_BELOW,
				   node_of(graph, node)->period - graph->weights[node]);
	}
}

/* The nearest node at or above NODE that is the entered row's. */
static uint32_t of_row(const struct callgraph *graph, uint32_t node)
{
	while (node_of(graph, node)->row != graph->row)
		node = node_of(graph, node)->parent;
	return node;
}

/*
 * Weighs the nodes at which the row's parts of chains begin: where own samples end, for others the
 * innermost node of the row.
 */
static void weigh_beginnings(struct callgraph *graph, const struct some_nodes *nodes,
			     const struct some_nodes *ends)
{
	bool children = graph->options.children;

	for (size_t i = 0; i < ends->count; i++) {
		uint64_t own = node_of(graph, ends->items[i])->self_period;

		graph->weights[ends->items[i]] += own;
		if (children)
			graph->weights[of_row(graph, ends->items[i])] -= own;
	}
	for (size_t i = 0; children && i < nodes->count; i++) {
		uint32_t above = same_above(graph, nodes->items[i]);
		uint64_t period = node_of(graph, nodes->items[i])->period;

		graph->weights[nodes->items[i]] += period;
		if (above != CALLTREE_NONE)
			graph->weights[above] -= period;
	}
}

static void add_weighed_up(struct callgraph *graph, const struct some_nodes *nodes,
			   struct callgraph_branches *ret)
{
	for (size_t i = 0; i < nodes->count; i++) {
		add_member(graph, ret, nodes->items[i], WAY_UP, graph->weights[nodes->items[i]]);
		graph->weights[nodes->items[i]] = 0;
	}
}

void callgraph_enter(struct callgraph *graph, const struct profile_row *row,
		     struct callgraph_branches *ret)
{
	struct some_nodes nodes = nodes_of(&graph->nodes, row->number);
	struct some_nodes ends = nodes_of(&graph->ends, row->number);

	if (graph->entered && graph->options.caller)
		unweigh(graph);
	graph->row = row->number;
	graph->entered = true;
	if (!nodes.count)
		return;
	if (graph->options.caller) {
		enter_by_caller(graph, &nodes, ret);
	} else {
		weigh_beginnings(graph, &nodes, &ends);
		add_weighed_up(graph, &nodes, ret);
		add_weighed_up(graph, &ends, ret);
	}
	finish(graph, ret);
}

void callgraph_descend(struct callgraph *graph, const struct callgraph_branch *branch,
		       struct callgraph_branches *ret)
{
	for (size_t i = 0; i < branch->members.count; i++) {
		const struct callgraph_member *member = &branch->members.items[i];
		uint32_t parent = node_of(graph, member->node)->parent;

		if (member->way == WAY_TO_ROW)
			add_weighed(graph, ret, member->node);
		else if (member->way == WAY_BELOW)
			add_below(graph, ret, member->node);
		else if (!is_root(graph, parent))
			add_member(graph, ret, parent, WAY_UP, member->period);
	}
	finish(graph, ret);
}
