/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows an outline shows, and in which groups. The rows of a group are divided when it is
 * unfolded: by the keys of the next level, in the order in which their first rows stand in the
 * profile, and then by share. Where the keys tell all rows apart, each row is a child of its own,
 * and nothing needs to be compared.
 */
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "view/outline_nodes.h"

void outline_common_keys(const struct outline *outline, size_t depth, struct profile_keys *ret)
{
	ret->count = 0;
	for (size_t level = 0; level < depth && level < outline->level_count; level++)
		for (size_t i = 0; i < outline->levels[level].count; i++)
			profile_keys_add(ret, outline->levels[level].items[i]);
}

static bool has_zooms(struct outline *outline, const struct profile_row *row, bool of_sample)
{
	for (size_t i = 0; i < outline->zooms.count; i++) {
		const struct outline_zoom *zoom = &outline->zooms.items[i];

		if ((!of_sample || outline_is_of_sample(zoom->key)) &&
		    outline_lasting_value(outline, row, zoom->key) != zoom->value)
			return false;
	}
	return true;
}

bool outline_narrows_samples(const struct outline *outline)
{
	for (size_t i = 0; i < outline->zooms.count; i++)
		if (outline_is_of_sample(outline->zooms.items[i].key))
			return true;
	return false;
}

/* What shares are of: the samples that have what was zoomed into. */
static uint64_t sum_total(struct outline *outline)
{
	const struct profile_event *event = outline->event;
	uint64_t total = 0;

	if (!outline_narrows_samples(outline) || outline->options.absolute)
		return event->total_period;
	for (size_t i = 0; i < event->rows.count; i++)
		if (has_zooms(outline, &event->rows.items[i], true))
			total += event->rows.items[i].period;
	return total;
}

void outline_select(struct outline *outline)
{
	const struct profile_event *event = outline->event;
	const struct outline_options *options = &outline->options;

	outline->items.count = outline->nodes.count = outline->order.count = 0;
	outline->total = sum_total(outline);
	outline->lacks_rows = false;
	vector_reserve(&outline->items, event->rows.count);
	for (size_t i = 0; i < event->rows.count; i++) {
		const struct profile_row *row = &event->rows.items[i];

		if (report_row_is_shown(row, event->total_period, options->children,
					options->min_percent) &&
		    has_zooms(outline, row, false) &&
		    row_match_row(outline->match, row, options->keys))
			vector_append(&outline->items, i);
		else if (has_zooms(outline, row, true))
			outline->lacks_rows = true;
	}
	vector_append(&outline->nodes,
		      (struct outline_node){ .item_count = outline->items.count,
					     .kind = OUTLINE_GROUP });
}

/* How the children of a node are told apart. */
struct division {
	struct profile_keys keys;
	bool each;	     /* every row is a child */
	bool sums_children;  /* children of rows add up … */
	bool children_known; /* … or are the same as the period, if this is true, too */
};

static void plan(const struct outline *outline, size_t depth, struct division *ret)
{
	const struct profile_keys *counted = outline->options.keys;
	bool of_sample = true;
	size_t common = 0;

	outline_common_keys(outline, depth + 1, &ret->keys);
	for (size_t i = 0; i < counted->count; i++)
		common += profile_keys_have(&ret->keys, counted->items[i]);
	for (size_t i = 0; i < ret->keys.count; i++)
		of_sample &= outline_is_of_sample(ret->keys.items[i]);
	ret->each = common == counted->count;
	/* A sample has a function once in its chain, but may have several of a file. */
	ret->sums_children = ret->each || (profile_keys_have(&ret->keys, PROFILE_SYMBOL) &&
					   !profile_keys_have(counted, PROFILE_SOURCE));
	ret->children_known = ret->sums_children || (of_sample && !outline->lacks_rows);
}

/* The number of ROW's child, from 0 on. */
static uint32_t class_of(struct outline *outline, struct intern *classes,
			 const struct profile_keys *keys, const struct profile_row *row)
{
	uint64_t values[PROFILE_KEY_COUNT];

	for (size_t i = 0; i < keys->count; i++)
		values[i] = outline_value(outline, row, keys->items[i]);
	return intern_bytes(classes, (const char *)values, keys->count * sizeof(*values)) - 1;
}

/* The same for the only KEY there is, which is faster. */
static uint32_t class_by(struct outline *outline, struct map *classes, enum profile_key key,
			 const struct profile_row *row)
{
	uint64_t *number = map_insert(classes, outline_value(outline, row, key), NULL);

	if (!*number)
		*number = classes->count;
	return *number - 1;
}

/* For each of NODE's rows the number of its child. Returns how many children there are. */
static size_t classify(struct outline *outline, const struct outline_node *node,
		       const struct division *division, uint32_t *ret)
{
	_cleanup_intern_ struct intern *classes = intern_create();
	_cleanup_map_ struct map values;

	map_init(&values);
	for (size_t i = 0; i < node->item_count; i++) {
		uint32_t item = outline->items.items[node->items + i];
		const struct profile_row *row = &outline->event->rows.items[item];

		if (division->keys.count == 1)
			ret[i] = class_by(outline, &values, division->keys.items[0], row);
		else
			ret[i] = class_of(outline, classes, &division->keys, row);
	}
	return division->keys.count == 1 ? values.count : intern_count(classes) - 1;
}

static void add_row(struct outline_node *child, const struct profile_row *row,
		    const struct division *division)
{
	child->period += row->period;
	child->samples += row->count;
	child->children += division->sums_children ? row->children : row->period;
}

/* Puts the rows of each child next to each other, and tells the child where. */
static void gather(struct outline *outline, const struct outline_node *node,
		   const uint32_t *classes, struct outline_node *children, size_t count)
{
	uint32_t *items = outline->items.items + node->items;
	_cleanup_free_ uint32_t *before = memory_alloc((node->item_count + 1) * sizeof(*before));
	size_t at = node->items;

	memcpy(before, items, node->item_count * sizeof(*before));
	for (size_t i = 0; i < count; i++) {
		children[i].items = at;
		at += children[i].item_count;
		children[i].item_count = 0;
	}
	for (size_t i = 0; i < node->item_count; i++) {
		struct outline_node *child = &children[classes[i]];

		outline->items.items[child->items + child->item_count++] = before[i];
	}
}

static uint64_t share_of(const struct outline *outline, const struct outline_node *node)
{
	return outline->by_self || !node->children_known ? node->period : node->children;
}

void outline_adopt(struct outline *outline, uint32_t parent, size_t count)
{
	struct outline_node *above = &outline->nodes.items[parent];

	above->built = true;
	above->first = outline->order.count;
	above->count = count;
	vector_reserve(&outline->order, outline->order.count + count);
	for (size_t i = outline->nodes.count - count; i < outline->nodes.count; i++)
		vector_append(&outline->order, i);
}

/* Sorts the children of PARENT: largest first, and what is equal stays in its order. */
static void sort(struct outline *outline, uint32_t parent)
{
	const struct outline_node *above = &outline->nodes.items[parent];
	uint32_t *order = outline->order.items + above->first;
	_cleanup_free_ struct sort_key *keys = memory_calloc(above->count + 1, sizeof(*keys));

	for (size_t i = 0; i < above->count; i++)
		keys[i] = (struct sort_key){
			.key = ~share_of(outline, &outline->nodes.items[order[i]]),
			.index = order[i] };
	sort_keys(keys, above->count);
	for (size_t i = 0; i < above->count; i++)
		order[i] = keys[i].index;
}

/* Appends COUNT nodes like CHILD, and returns them. */
static struct outline_node *append(struct outline *outline, const struct outline_node *child,
				   size_t count)
{
	size_t first = outline->nodes.count;

	vector_reserve(&outline->nodes, first + count);
	for (size_t i = 0; i < count; i++)
		vector_append(&outline->nodes, *child);
	return outline->nodes.items + first;
}

/* One child for each of NODE's rows, in their order. */
static size_t split_each(struct outline *outline, const struct outline_node *node,
			 const struct outline_node *child, const struct division *division)
{
	struct outline_node *children = append(outline, child, node->item_count);

	for (size_t i = 0; i < node->item_count; i++) {
		uint32_t item = outline->items.items[node->items + i];

		children[i].items = node->items + i;
		children[i].item_count = 1;
		add_row(&children[i], &outline->event->rows.items[item], division);
	}
	return node->item_count;
}

static size_t split_by_keys(struct outline *outline, const struct outline_node *node,
			    const struct outline_node *child, const struct division *division)
{
	_cleanup_free_ uint32_t *classes = memory_alloc((node->item_count + 1) * sizeof(*classes));
	size_t count = classify(outline, node, division, classes);
	struct outline_node *children = append(outline, child, count);

	for (size_t i = 0; i < node->item_count; i++) {
		uint32_t item = outline->items.items[node->items + i];

		add_row(&children[classes[i]], &outline->event->rows.items[item], division);
		children[classes[i]].item_count++;
	}
	gather(outline, node, classes, children, count);
	return count;
}

void outline_split(struct outline *outline, uint32_t number)
{
	const struct outline_node node = outline->nodes.items[number];
	bool last = node.depth + 1 == outline->level_count;
	struct outline_node child = { .parent = number, .depth = node.depth + 1,
				      .indent = node.depth,
				      .kind = last ? OUTLINE_ROW : OUTLINE_GROUP };
	struct division division;

	plan(outline, node.depth, &division);
	child.children_known = division.children_known;
	outline_adopt(outline, number,
		      division.each ? split_each(outline, &node, &child, &division)
				    : split_by_keys(outline, &node, &child, &division));
	/* The profile's rows are sorted, by keys first if it was told to. */
	if (!division.each || outline->by_self == outline->options.children)
		sort(outline, number);
}
