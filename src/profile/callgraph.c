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

struct callgraph {
	const struct profile *profile;
	const struct calltree *tree;
	struct callgraph_options options;
	uint32_t *nodes;  /* nodes of the same row are adjacent … */
	size_t *starts;	  /* … from starts[number] up to starts[number + 1] */
	uint64_t *weights; /* for each node: period of the row's own samples in it and below */
	uint32_t *firsts, *nexts; /* for each node: lists of children with a weight */
	uint32_t *slots;   /* for each frame: its index + 1 in the list being built */
	uint32_t row;	   /* the number of the row entered last */
	bool entered;
};

struct callgraph *callgraph_create(const struct profile *profile,
				   const struct callgraph_options *options)
{
	struct callgraph *graph = memory_calloc(1, sizeof(*graph));
	const struct calltree *tree = profile->tree;

	graph->profile = profile;
	graph->tree = tree;
	graph->options = *options;
	graph->nodes = memory_calloc(tree->nodes.count + 1, sizeof(*graph->nodes));
	graph->starts = memory_calloc(profile->row_count + 2, sizeof(*graph->starts));
	graph->weights = memory_calloc(tree->nodes.count + 1, sizeof(*graph->weights));
	graph->firsts = memory_calloc(tree->nodes.count + 1, sizeof(*graph->firsts));
	graph->nexts = memory_calloc(tree->nodes.count + 1, sizeof(*graph->nexts));
	for (size_t i = 0; i < tree->nodes.count; i++)
		graph->firsts[i] = CALLTREE_NONE;
	graph->slots = memory_calloc(tree->frames.count + 1, sizeof(*graph->slots));
	for (size_t i = 0; i < tree->nodes.count; i++)
		if (tree->nodes.items[i].parent != CALLTREE_NONE)
			graph->starts[tree->nodes.items[i].row + 2]++;
	for (size_t i = 2; i < profile->row_count + 2; i++)
		graph->starts[i] += graph->starts[i - 1];
	for (size_t i = 0; i < tree->nodes.count; i++)
		if (tree->nodes.items[i].parent != CALLTREE_NONE)
			graph->nodes[graph->starts[tree->nodes.items[i].row + 1]++] = i;
	return graph;
}

void callgraph_destroy(struct callgraph *graph)
{
	if (!graph)
		return;
	free(graph->nodes);
	free(graph->starts);
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
		return node->row == graph->row ? node->self_period : 0;
	case WAY_BELOW:
		return node->row == graph->row ? 0 : node->self_period;
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

/* Adds the row's own samples in its nodes to the weights of all nodes above. */
static void weigh(struct callgraph *graph)
{
	for (size_t i = graph->starts[graph->row]; i < graph->starts[graph->row + 1]; i++) {
		uint64_t period = node_of(graph, graph->nodes[i])->self_period;

		for (uint32_t at = graph->nodes[i]; period && !is_root(graph, at);
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
	for (size_t i = graph->starts[graph->row]; i < graph->starts[graph->row + 1]; i++)
		for (uint32_t at = graph->nodes[i]; graph->weights[at];
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

static void enter_by_caller(struct callgraph *graph, const uint32_t *nodes, size_t count,
			    struct callgraph_branches *ret)
{
	weigh(graph);
	add_weighed(graph, ret, root_of(graph, nodes[0]));
	for (size_t i = 0; graph->options.children && i < count; i++)
		if (same_above(graph, nodes[i]) == CALLTREE_NONE)
			add_member(graph, ret, nodes[i], WAY_BELOW,
				   node_of(graph, nodes[i])->period - graph->weights[nodes[i]]);
}

/* If a sample has several nodes of the row in its chain, the innermost counts. */
static void enter_by_callee(struct callgraph *graph, const uint32_t *nodes, size_t count,
			    struct callgraph_branches *ret)
{
	bool children = graph->options.children;

	for (size_t i = 0; i < count; i++) {
		const struct calltree_node *node = node_of(graph, nodes[i]);
		uint32_t above = children ? same_above(graph, nodes[i]) : CALLTREE_NONE;

		graph->weights[nodes[i]] += children ? node->period : node->self_period;
		if (above != CALLTREE_NONE)
			graph->weights[above] -= node->period;
	}
	for (size_t i = 0; i < count; i++) {
		add_member(graph, ret, nodes[i], WAY_UP, graph->weights[nodes[i]]);
		graph->weights[nodes[i]] = 0;
	}
}

void callgraph_enter(struct callgraph *graph, const struct profile_row *row,
		     struct callgraph_branches *ret)
{
	const uint32_t *nodes = graph->nodes + graph->starts[row->number];
	size_t count = graph->starts[row->number + 1] - graph->starts[row->number];

	if (graph->entered && graph->options.caller)
		unweigh(graph);
	graph->row = row->number;
	graph->entered = true;
	if (!count)
		return;
	if (graph->options.caller)
		enter_by_caller(graph, nodes, count, ret);
	else
		enter_by_callee(graph, nodes, count, ret);
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
