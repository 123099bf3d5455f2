/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls below a row: the chains of its samples, merged into a tree, a level at a time. A
 * function that is followed by one other function only continues its branch: both are shown
 * together, below each other, as `perf report` shows them.
 */
#include "profile/calltree.h"
#include "view/outline_nodes.h"

/* The row that node NUMBER belongs to. */
static uint32_t row_above(const struct outline *outline, uint32_t number)
{
	while (outline->nodes.items[number].kind == OUTLINE_CALL)
		number = outline->nodes.items[number].parent;
	return number;
}

static struct callgraph *graph_of(struct outline *outline)
{
	struct callgraph_options options = { .caller = outline->options.caller,
					     .children = outline->options.children };

	if (!outline->graph)
		outline->graph = callgraph_create(outline->profile, &options);
	return outline->graph;
}

/* A line that is a row stands for one of the profile's. */
static const struct profile_row *profile_row_of(const struct outline *outline, uint32_t number)
{
	size_t item = outline->nodes.items[number].items;

	return &outline->event->rows.items[outline->items.items[item]];
}

/* The first calls of node NUMBER, a row. */
static void enter(struct outline *outline, uint32_t number, struct callgraph_branches *ret)
{
	callgraph_enter(graph_of(outline), profile_row_of(outline, number), ret);
	outline->entered = number;
}

/* Whether BRANCH is nothing but the function that the row of node NUMBER shows. */
static bool repeats_row(const struct outline *outline, uint32_t number,
			const struct callgraph_branch *branch)
{
	const struct calltree_node *nodes = outline->profile->tree->nodes.items;

	return profile_keys_have(outline->options.keys, PROFILE_SYMBOL) &&
	       nodes[branch->members.items[0].node].row == profile_row_of(outline, number)->number;
}

/* What is below node NUMBER. */
static void descend(struct outline *outline, uint32_t number, struct callgraph_branches *ret)
{
	const struct outline_node *node = &outline->nodes.items[number];
	struct callgraph_branches first = { 0 };

	if (node->kind == OUTLINE_CALL) {
		callgraph_descend(graph_of(outline), &outline->branches.items[node->branch], ret);
		return;
	}
	enter(outline, number, &first);
	if (first.list.count == 1 && repeats_row(outline, number, &first.list.items[0])) {
		callgraph_descend(graph_of(outline), &first.list.items[0], ret);
		callgraph_branches_deinit(&first);
	} else {
		*ret = first;
	}
}

/* The share below which calls are not shown. */
static uint64_t least_period(const struct outline *outline)
{
	return outline->event->total_period * (outline->options.min_chain_percent / 100);
}

/* Whether nothing else happens after node NUMBER, a call, than ONE more. */
static bool continues(const struct outline *outline, uint32_t number, size_t following)
{
	const struct outline_node *node = &outline->nodes.items[number];

	return node->kind == OUTLINE_CALL && following == 1 &&
	       !outline->branches.items[node->branch].end_period;
}

/* Makes the children of node NUMBER, unless they are there. */
static void build(struct outline *outline, uint32_t number)
{
	const struct outline_node node = outline->nodes.items[number];
	struct callgraph_branches branches = { 0 };
	uint64_t least = least_period(outline);
	size_t before = outline->nodes.count;
	bool forks;

	if (node.built)
		return;
	descend(outline, number, &branches);
	forks = !continues(outline, number, branches.list.count);
	for (size_t i = 0; i < branches.list.count; i++) {
		const struct callgraph_branch *branch = &branches.list.items[i];

		if (branch->period < least) {
			free(branch->members.items);
			continue;
		}
		vector_append(&outline->nodes,
			      (struct outline_node){ .parent = number,
						     .branch = outline->branches.count,
						     .kind = OUTLINE_CALL,
						     .depth = node.depth + 1,
						     .indent = node.indent + forks,
						     .forks = forks,
						     .period = branch->period });
		vector_append(&outline->branches, *branch);
	}
	vector_deinit(&branches.list);
	outline_adopt(outline, number, outline->nodes.count - before);
}

/* Unfolds what continues the branch of node NUMBER, whose children are made. */
static void follow(struct outline *outline, uint32_t number)
{
	for (;;) {
		const struct outline_node *node = &outline->nodes.items[number];
		uint32_t next;

		if (!continues(outline, number, node->count))
			return;
		outline->nodes.items[number].unfolded = true;
		next = outline->order.items[node->first];
		build(outline, next);
		number = next;
	}
}

void outline_call(struct outline *outline, uint32_t number)
{
	struct callgraph_branches again = { 0 };
	uint32_t row = row_above(outline, number);
	size_t first, count;

	/* What is made below a call refers to its row's weights. */
	if (row != number && outline->entered != row) {
		enter(outline, row, &again);
		callgraph_branches_deinit(&again);
	}
	build(outline, number);
	first = outline->nodes.items[number].first;
	count = outline->nodes.items[number].count;
	for (size_t i = first; i < first + count; i++) {
		build(outline, outline->order.items[i]);
		follow(outline, outline->order.items[i]);
	}
}

void outline_forget_calls(struct outline *outline)
{
	for (size_t i = 0; i < outline->branches.count; i++)
		vector_deinit(&outline->branches.items[i].members);
	outline->branches.count = 0;
	outline->entered = 0;
}
