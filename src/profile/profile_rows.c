/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns cells into rows: locations that look the same become one (identity.c). Functions that only
 * occur in call chains have rows, too. profile_sort.c sorts the rows.
 */
#include "profile/profile_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "profile/calltree.h"
#include "profile/identity.h"
#include "profile/profile_ipc.h"

struct row_place {
	size_t event, row;
};

struct builder {
	struct profile *profile;
	bool children; /* rows' children are wanted */
	const struct profile_keys *keys;
	struct groups *groups;
	struct identities *identities;
	struct map numbers; /* group << 32 | identity -> row number + 1 */
	/* each frame of a root has a row that only it counts for, so rows need no lookup */
	bool one_each;
	VECTOR(struct row_place) places; /* for each row number */
};

static struct profile_row row_of_group(const struct profile_group *group)
{
	struct profile_row row = { .vm = group->vm,
				   .vcpu = group->vcpu,
				   .comm = group->comm,
				   .pid = group->pid,
				   .tid = group->tid,
				   .guest_comm = group->guest_comm,
				   .guest_pid = group->guest_pid,
				   .cpu = group->cpu,
				   .time_ns = group->time_ns,
				   .cpumode = group->cpumode };

	memcpy(row.texts, group->texts, sizeof(row.texts));
	return row;
}

static struct profile_group group_of(const struct builder *builder, uint32_t number)
{
	return groups_get(builder->groups, number);
}

static struct profile_row *row_of(const struct builder *builder, uint32_t number)
{
	const struct row_place *place = &builder->places.items[number];

	return &builder->profile->events[place->event].rows.items[place->row];
}

static uint32_t add_row(struct builder *builder, uint32_t group_number, uint32_t location,
			uint32_t identity)
{
	struct profile_group group = group_of(builder, group_number);
	struct profile_event *event = &builder->profile->events[group.event];
	struct profile_row row = row_of_group(&group);

	row.dso = identities_get(builder->identities, identity).dso;
	row.location = location;
	row.number = builder->places.count;
	row.depth = UINT32_MAX;
	vector_append(&builder->places,
		      (struct row_place){ .event = group.event, .row = event->rows.count });
	vector_append(&event->rows, row);
	return row.number;
}

/* The location at the lowest address represents the row. */
static void take_lower(struct builder *builder, uint32_t number, uint32_t location)
{
	struct resolver *resolver = builder->profile->resolver;
	struct profile_row *row = row_of(builder, number);

	if (resolver_location(resolver, location)->address <
	    resolver_location(resolver, row->location)->address)
		row->location = location;
}

/* The number of the row for LOCATION in GROUP, added if it is new. */
static uint32_t find_row(struct builder *builder, uint32_t group, uint32_t location,
			 uint16_t cpumode)
{
	uint32_t identity = identities_find(builder->identities, location, cpumode);
	uint64_t *number;

	if (builder->one_each)
		return add_row(builder, group, location, identity);
	number = map_insert(&builder->numbers, (uint64_t)group << 32 | identity, NULL);
	if (!*number)
		*number = add_row(builder, group, location, identity) + 1;
	else
		take_lower(builder, *number - 1, location);
	return *number - 1;
}

static void add_samples(struct builder *builder, uint32_t number, uint64_t period, uint64_t count)
{
	struct profile_event *event =
		&builder->profile->events[builder->places.items[number].event];
	struct profile_row *row = row_of(builder, number);

	row->period += period;
	row->count += count;
	event->period += period;
	event->samples += count;
}

static void add_cell(struct builder *builder, struct profile_cell *cell)
{
	uint32_t group = cell->key >> 32, location = cell->key;
	uint16_t cpumode = group_of(builder, group).cpumode;

	cell->row = find_row(builder, group, location, cpumode);
	add_samples(builder, cell->row, cell->period, cell->count);
}

/* The slices of cells, as those of their rows. */
static void add_slices(struct builder *builder, const struct profile_counts *counts)
{
	for (size_t i = 0; i < counts->slice_count; i++) {
		const struct profile_cell_slice *slice = &counts->slices[i];
		uint32_t row = counts->cells[slice->cell].row;
		size_t event = builder->places.items[row].event;

		vector_append(&builder->profile->events[event].slices,
			      (struct profile_slice){ .row = row,
						      .time_ns = slice->time_ns,
						      .period = slice->period,
						      .count = slice->count });
	}
}

/*
 * The cells that are in use, with those of the same location next to each other, so that the data
 * of a location are fetched from memory only once. The caller frees the array.
 */
static struct profile_cell **order_cells(struct profile_cell *cells, size_t cell_count,
					 size_t locations, size_t *ret_count)
{
	_cleanup_free_ size_t *places = memory_calloc(locations + 1, sizeof(*places));
	struct profile_cell **ordered;
	size_t count = 0;

	for (size_t i = 0; i < cell_count; i++)
		if (cells[i].key)
			places[(uint32_t)cells[i].key]++;
	for (size_t i = 0; i < locations; i++) {
		size_t here = places[i];

		places[i] = count;
		count += here;
	}
	ordered = memory_alloc(count * sizeof(*ordered));
	for (size_t i = 0; i < cell_count; i++)
		if (cells[i].key)
			ordered[places[(uint32_t)cells[i].key]++] = &cells[i];
	*ret_count = count;
	return ordered;
}

/* The group of ROOT's samples that have this CPUMODE. */
static uint32_t group_at(struct builder *builder, uint32_t root_group, uint16_t cpumode)
{
	struct profile_group group = group_of(builder, root_group);

	if (profile_keys_have(builder->keys, PROFILE_MODE) ||
	    profile_keys_have(builder->keys, PROFILE_SYMBOL))
		group.cpumode = cpumode;
	return groups_find(builder->groups, &group, UINT64_MAX);
}

/* A walk through one root's nodes: what is between the root and the current node. */
struct walk {
	struct calltree *tree;
	const struct calltree_root *root;
	/* the root's groups, by cpumode; 0: not known yet */
	uint32_t groups[1 << CHAINS_LEVEL_BITS];
	uint32_t depth;
	VECTOR(uint32_t) on_path; /* for each row number, how often it is on the path */
	/* For each frame: its row, and the root for which that is true, as one of its nodes + 1. */
	uint32_t *rows, *roots;
};

static uint32_t row_of_frame(struct builder *builder, struct walk *walk, uint32_t number)
{
	const struct chains_frame *frame = &walk->tree->frames.items[number];
	uint32_t *group = &walk->groups[frame->cpumode];

	if (!*group)
		*group = group_at(builder, walk->root->row.number, frame->cpumode);
	return find_row(builder, *group, frame->location, frame->cpumode);
}

/* The nearest function at or above NODE that is not inlined; its samples are that one's. */
static uint32_t own_row_of(const struct builder *builder, const struct walk *walk,
			   const struct calltree_node *node)
{
	const struct calltree *tree = walk->tree;
	const struct calltree_node *at = node;

	for (; at->parent != CALLTREE_NONE; at = &tree->nodes.items[at->parent]) {
		uint32_t location = tree->frames.items[at->frame].location;

		if (!resolver_location(builder->profile->resolver, location)->inlined)
			return at->row;
	}
	return node->row;
}

/* A function that called itself, directly or not, counts once per sample: where it comes first. */
static void enter_node(struct builder *builder, struct walk *walk, struct calltree_node *node)
{
	struct profile_row *row;

	if (walk->roots[node->frame] != walk->root->node + 1) {
		walk->roots[node->frame] = walk->root->node + 1;
		walk->rows[node->frame] = row_of_frame(builder, walk, node->frame);
	}
	node->row = walk->rows[node->frame];
	while (walk->on_path.count <= node->row)
		vector_append(&walk->on_path, 0);
	node->own_row = own_row_of(builder, walk, node);
	row = row_of(builder, node->row);
	if (node->self_count)
		add_samples(builder, node->own_row, node->self_period, node->self_count);
	if (!walk->on_path.items[node->row]++ && builder->children)
		row->children += node->period;
	walk->depth++;
	if (walk->depth < row->depth)
		row->depth = walk->depth;
}

static void leave_node(struct walk *walk, const struct calltree_node *node)
{
	walk->on_path.items[node->row]--;
	walk->depth--;
}

static void walk_root(struct builder *builder, struct walk *walk)
{
	struct calltree_node *nodes = walk->tree->nodes.items;
	uint32_t root = walk->root->node, last = root;

	walk->depth = 0;
	memset(walk->groups, 0, sizeof(walk->groups));
	for (uint32_t at = root + 1; at < nodes[root].end; last = at++) {
		for (; last != nodes[at].parent; last = nodes[last].parent)
			leave_node(walk, &nodes[last]);
		enter_node(builder, walk, &nodes[at]);
	}
	for (; last != root; last = nodes[last].parent)
		leave_node(walk, &nodes[last]);
}

/* Adds a stray's period to the children of its function, unless that is in its chain. */
static void add_stray_children(struct builder *builder, const struct calltree *tree,
			       const struct profile_stray *stray)
{
	const struct calltree_node *nodes = tree->nodes.items;
	uint16_t cpumode = group_of(builder, stray->group).cpumode;
	uint32_t number = find_row(builder, stray->group, stray->location, cpumode);
	uint32_t at = tree->nodes_of[stray->cell];

	for (; nodes[at].parent != CALLTREE_NONE; at = nodes[at].parent)
		if (nodes[at].row == number)
			return;
	row_of(builder, number)->children += stray->period;
}

/* The walk counted a stray for the function at the end of its chain; this undoes that. */
static void correct_stray(struct builder *builder, const struct calltree *tree,
			  const struct profile_stray *stray)
{
	const struct calltree_node *node = &tree->nodes.items[tree->nodes_of[stray->cell]];

	if (node->parent != CALLTREE_NONE)
		add_samples(builder, node->own_row, -stray->period, -1);
	if (builder->children)
		add_stray_children(builder, tree, stray);
}

static void finish_root(struct builder *builder, struct calltree_root *root)
{
	struct profile_group group = group_of(builder, root->row.number);

	root->row = row_of_group(&group);
	root->event = group.event;
}

static void build_tree(struct builder *builder, const struct profile_counts *counts)
{
	struct calltree *tree = calltree_create(counts->chains);
	struct walk walk = { .tree = tree };

	builder->profile->tree = tree;
	builder->profile->totals.chains_cut = tree->cut_count;
	walk.rows = memory_calloc(tree->frames.count + 1, sizeof(*walk.rows));
	walk.roots = memory_calloc(tree->frames.count + 1, sizeof(*walk.roots));
	for (size_t i = 0; i < tree->roots.count; i++) {
		walk.root = &tree->roots.items[i];
		walk_root(builder, &walk);
		finish_root(builder, &tree->roots.items[i]);
	}
	for (size_t i = 0; i < counts->stray_count; i++)
		correct_stray(builder, tree, &counts->strays[i]);
	vector_deinit(&walk.on_path);
	free(walk.rows);
	free(walk.roots);
	free(take_pointer(tree->nodes_of));
}

static int compare_samples(const void *left, const void *right)
{
	const struct profile_sample *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* Lists the samples by time, and those of the same time by node: threads counted them. */
static void list_samples(struct profile *profile, const struct profile_counts *counts)
{
	vector_reserve(&profile->samples, counts->sample_count);
	for (size_t i = 0; i < counts->sample_count; i++)
		profile->samples.items[i] = (struct profile_sample){
			.time_ns = counts->samples[i].time_ns,
			.period = counts->samples[i].period,
			.cpumode = counts->samples[i].cpumode,
			.node = profile->tree->nodes_of[counts->samples[i].cell],
		};
	profile->samples.count = counts->sample_count;
	if (counts->sample_count)
		qsort(profile->samples.items, counts->sample_count,
		      sizeof(*profile->samples.items), compare_samples);
}

/* Builds a tree without rows: each sample is in one root. */
static void build_bare_tree(struct builder *builder, const struct profile_counts *counts)
{
	struct calltree *tree = calltree_create(counts->chains);

	builder->profile->tree = tree;
	builder->profile->totals.chains_cut = tree->cut_count;
	for (size_t i = 0; i < tree->roots.count; i++) {
		struct calltree_root *root = &tree->roots.items[i];
		const struct calltree_node *node = &tree->nodes.items[root->node];

		finish_root(builder, root);
		builder->profile->events[root->event].samples += node->count;
		builder->profile->events[root->event].period += node->period;
	}
	list_samples(builder->profile, counts);
	free(take_pointer(tree->nodes_of));
}

static void build_rows(struct builder *builder, const struct profile_options *options,
		       const struct profile_counts *counts)
{
	bool by_function = counts->chains && profile_keys_have(builder->keys, PROFILE_SYMBOL);
	struct profile *profile = builder->profile;
	size_t count;
	_cleanup_free_ struct profile_cell **ordered = order_cells(
		counts->cells, counts->cell_count, resolver_count(profile->resolver), &count);

	builder->identities =
		by_function ? counts->functions : identities_create(profile, builder->keys);
	if (options->unnamed_alike)
		identities_merge_unnamed(builder->identities);
	map_init(&builder->numbers);
	builder->one_each = by_function && !count && !counts->stray_count;
	for (size_t i = 0; i < count; i++)
		add_cell(builder, ordered[i]);
	add_slices(builder, counts);
	if (counts->chains)
		build_tree(builder, counts);
	profile->row_count = builder->places.count;
	if (options->ipc)
		profile_ipc_add(profile, builder->identities);
	for (size_t i = 0; i < profile->event_count; i++)
		profile_rows_sort(profile, options, &profile->events[i]);
	map_deinit(&builder->numbers);
	vector_deinit(&builder->places);
	if (!by_function)
		identities_destroy(builder->identities);
}

void profile_rows_build(struct profile *profile, const struct profile_options *options,
			const struct profile_counts *counts)
{
	struct builder builder = { .profile = profile, .keys = &options->keys,
				   .groups = counts->groups, .children = counts->children };

	if (counts->rows)
		build_rows(&builder, options, counts);
	else
		build_bare_tree(&builder, counts);
}
