/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of an outline, and what chooses them. */
#include "view/outline.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "output/view.h"
#include "view/outline_nodes.h"

#define MAX_UNFOLDED 100000 /* lines that one key may add */

const struct profile *outline_profile(const struct outline *outline)
{
	return outline->profile;
}

const struct outline_options *outline_options(const struct outline *outline)
{
	return &outline->options;
}

const struct profile_event *outline_event(const struct outline *outline)
{
	return outline->event;
}

uint64_t outline_total(const struct outline *outline)
{
	return outline->total;
}

size_t outline_count(const struct outline *outline)
{
	return outline->lines.count;
}

static struct outline_node *node_at(const struct outline *outline, size_t line)
{
	return &outline->nodes.items[outline->lines.items[line]];
}

/* The first of the rows that NODE, which is no call, stands for. */
static const struct profile_row *row_of(const struct outline *outline,
					const struct outline_node *node)
{
	return &outline->event->rows.items[outline->items.items[node->items]];
}

static enum outline_fold fold_of(const struct outline *outline, const struct outline_node *node)
{
	if (node->built ? !node->count : node->kind == OUTLINE_ROW && !outline->options.chains)
		return OUTLINE_LEAF;
	return node->unfolded ? OUTLINE_UNFOLDED : OUTLINE_FOLDED;
}

void outline_line(const struct outline *outline, size_t number, struct outline_line *ret)
{
	const struct outline_node *node = node_at(outline, number);

	*ret = (struct outline_line){ .kind = node->kind,
				      .fold = fold_of(outline, node),
				      .indent = node->indent,
				      .children_known = node->children_known,
				      .forks = node->forks };
	if (node->item_count)
		ret->row = *row_of(outline, node);
	if (node->item_count != 1)
		ret->row.cycles = ret->row.instructions = 0;
	ret->row.period = node->period;
	ret->row.count = node->samples;
	ret->row.children = node->children;
}

bool outline_shows(const struct outline *outline, enum profile_key key)
{
	const struct profile_keys *keys = &outline->levels[outline->level_count - 1];

	return profile_keys_have(keys, key);
}

void outline_append_cell(const struct outline *outline, size_t number, enum profile_key key,
			 struct buffer *out)
{
	view_append_cell(out, outline->profile, row_of(outline, node_at(outline, number)), key);
}

void outline_append_text(const struct outline *outline, size_t number, struct buffer *out)
{
	const struct outline_node *node = node_at(outline, number);
	const struct profile_keys *keys;

	if (node->kind == OUTLINE_CALL) {
		view_append_function(out, outline->profile,
				     outline->branches.items[node->branch].frame);
		return;
	}
	keys = &outline->levels[node->depth - 1];
	for (size_t i = 0; i < keys->count; i++) {
		buffer_append_string(out, i ? "  " : "");
		outline_append_cell(outline, number, keys->items[i], out);
	}
}

size_t outline_above(const struct outline *outline, size_t number)
{
	uint16_t depth = node_at(outline, number)->depth;

	for (size_t i = number; i-- > 0;)
		if (node_at(outline, i)->depth < depth)
			return i;
	return number;
}

typedef VECTOR(uint32_t) node_list;

/* The visible nodes below NODE, in their order. No deeper than chains and levels are. */
static void list_below(const struct outline *outline, const struct outline_node *node,
		       node_list *ret)
{
	for (size_t i = node->first; i < (size_t)node->first + node->count; i++) {
		const struct outline_node *child = &outline->nodes.items[outline->order.items[i]];

		vector_append(ret, outline->order.items[i]);
		if (child->unfolded)
			list_below(outline, child, ret);
	}
}

/* The first line after NUMBER that is not below it. */
static size_t end_of(const struct outline *outline, size_t number)
{
	uint16_t depth = node_at(outline, number)->depth;
	size_t end = number + 1;

	while (end < outline->lines.count && node_at(outline, end)->depth > depth)
		end++;
	return end;
}

/* Shows below line NUMBER what is unfolded there. */
static void refresh_below(struct outline *outline, size_t number)
{
	const struct outline_node *node = node_at(outline, number);
	size_t end = end_of(outline, number), rest = outline->lines.count - end, count;
	node_list below = { 0 };

	if (node->unfolded)
		list_below(outline, node, &below);
	count = number + 1 + below.count + rest;
	vector_reserve(&outline->lines, count);
	memmove(outline->lines.items + number + 1 + below.count, outline->lines.items + end,
		rest * sizeof(*outline->lines.items));
	if (below.count)
		memcpy(outline->lines.items + number + 1, below.items,
		       below.count * sizeof(*below.items));
	outline->lines.count = count;
	vector_deinit(&below);
}

static void build(struct outline *outline, uint32_t number)
{
	if (outline->nodes.items[number].kind == OUTLINE_GROUP)
		outline_split(outline, number);
	else
		outline_call(outline, number);
}

bool outline_unfold_node(struct outline *outline, uint32_t number)
{
	const struct outline_node *node = &outline->nodes.items[number];

	if (fold_of(outline, node) == OUTLINE_LEAF)
		return false;
	/* A call is built together with its neighbours, what continues it is not. */
	if (!node->built || node->kind == OUTLINE_CALL)
		build(outline, number);
	node = &outline->nodes.items[number];
	outline->nodes.items[number].unfolded = node->count;
	return node->count;
}

bool outline_unfold(struct outline *outline, size_t number)
{
	bool unfolded = outline_unfold_node(outline, outline->lines.items[number]);

	if (unfolded)
		refresh_below(outline, number);
	return unfolded;
}

bool outline_fold(struct outline *outline, size_t number)
{
	bool was = node_at(outline, number)->unfolded;

	node_at(outline, number)->unfolded = false;
	if (was)
		refresh_below(outline, number);
	return was;
}

bool outline_unfold_all(struct outline *outline, size_t number)
{
	node_list waiting = { 0 };
	size_t before = outline->nodes.count;

	vector_append(&waiting, outline->lines.items[number]);
	for (size_t i = 0; i < waiting.count && outline->nodes.count - before < MAX_UNFOLDED; i++) {
		const struct outline_node *node;

		if (!outline_unfold_node(outline, waiting.items[i]))
			continue;
		node = &outline->nodes.items[waiting.items[i]];
		for (size_t k = node->first; k < (size_t)node->first + node->count; k++)
			vector_append(&waiting, outline->order.items[k]);
	}
	vector_deinit(&waiting);
	refresh_below(outline, number);
	return outline->nodes.count - before < MAX_UNFOLDED;
}

void outline_fold_all(struct outline *outline, size_t number)
{
	size_t end = end_of(outline, number);

	for (size_t i = number; i < end; i++)
		node_at(outline, i)->unfolded = false;
	refresh_below(outline, number);
}

void outline_list_lines(struct outline *outline)
{
	node_list lines = { 0 };

	list_below(outline, &outline->nodes.items[0], &lines);
	vector_deinit(&outline->lines);
	outline->lines.items = lines.items;
	outline->lines.count = lines.count;
	outline->lines.capacity = lines.capacity;
}

void outline_restart(struct outline *outline)
{
	outline_forget_calls(outline);
	outline_select(outline);
	outline_split(outline, 0);
	outline_list_lines(outline);
}

void outline_choose_levels(struct outline *outline)
{
	const struct profile_keys *keys = outline->options.keys;
	struct profile_keys *last;

	memset(outline->levels, 0, sizeof(outline->levels));
	outline->level_count = 0;
	if (outline->group != PROFILE_KEY_COUNT)
		profile_keys_add(&outline->levels[outline->level_count++], outline->group);
	last = &outline->levels[outline->level_count++];
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->items[i] == outline->group)
			continue;
		if (outline->options.hierarchy && last->count)
			last = &outline->levels[outline->level_count++];
		profile_keys_add(last, keys->items[i]);
	}
	if (!last->count)
		outline->level_count--;
}

size_t outline_event_from(const struct outline *outline, size_t from)
{
	const struct profile *profile = outline->profile;

	for (size_t i = 0; i < profile->event_count; i++) {
		size_t number = (from + i) % profile->event_count;

		if (profile->events[number].samples)
			return number;
	}
	return from % profile->event_count;
}

struct outline *outline_create(const struct profile *profile, const struct outline_options *options)
{
	struct outline *outline = memory_calloc(1, sizeof(*outline));

	outline->profile = (struct profile *)profile;
	outline->options = *options;
	outline->options.chains &= !options->hierarchy;
	outline->group = PROFILE_KEY_COUNT;
	outline->by_self = !options->children;
	outline->match = row_match_create(profile);
	outline->wanted = row_match_create(profile);
	map_init(&outline->folds);
	outline->event_wanted = outline_event_from(outline, 0);
	outline->event = &profile->events[outline->event_wanted];
	outline_choose_levels(outline);
	outline_restart(outline);
	return outline;
}

void outline_destroy(struct outline *outline)
{
	if (!outline)
		return;
	outline_forget_calls(outline);
	callgraph_destroy(outline->graph);
	identities_destroy(outline->functions);
	row_match_destroy(outline->match);
	row_match_destroy(outline->wanted);
	map_deinit(&outline->folds);
	vector_deinit(&outline->cursor_path);
	vector_deinit(&outline->branches);
	outline_zooms_free(outline->zooms.items, outline->zooms.count);
	vector_deinit(&outline->zooms);
	vector_deinit(&outline->items);
	vector_deinit(&outline->nodes);
	vector_deinit(&outline->order);
	vector_deinit(&outline->lines);
	free(outline);
}

bool outline_next_event(struct outline *outline)
{
	size_t now = outline->event - outline->profile->events;

	outline->event_wanted = outline_event_from(outline, now + 1);
	outline->event = &outline->profile->events[outline->event_wanted];
	outline_restart(outline);
	return outline->event_wanted != now;
}

void outline_set_filter(struct outline *outline, const char *text)
{
	row_match_set(outline->match, text);
	outline_restart(outline);
}

const char *outline_filter(const struct outline *outline)
{
	return row_match_text(outline->match);
}

bool outline_group_by(struct outline *outline, enum profile_key key)
{
	if (key != PROFILE_KEY_COUNT && !outline_knows(outline, key))
		return false;
	outline->group = key;
	outline_choose_levels(outline);
	outline_restart(outline);
	return true;
}

enum profile_key outline_group(const struct outline *outline)
{
	return outline->group;
}

void outline_sort_by_self(struct outline *outline, bool self)
{
	outline->by_self = self || !outline->options.children;
	outline_restart(outline);
}

bool outline_is_sorted_by_self(const struct outline *outline)
{
	return outline->by_self;
}

void outline_set_caller(struct outline *outline, bool caller)
{
	outline->options.caller = caller;
	callgraph_destroy(take_pointer(outline->graph));
	outline_restart(outline);
}

void outline_set_absolute(struct outline *outline, bool absolute)
{
	outline->options.absolute = absolute;
	outline_restart(outline);
}

void outline_append_state(const struct outline *outline, struct buffer *out)
{
	buffer_append_string(out, outline->by_self && outline->options.children ? "by self"
				  : outline->options.children			? "with children"
										: "by overhead");
	if (outline->options.chains)
		buffer_append_string(out, outline->options.caller ? ", callers first"
								  : ", callees first");
	if (outline->group != PROFILE_KEY_COUNT)
		buffer_printf(out, ", by %s", view_title(outline->profile, outline->group));
	for (size_t i = 0; i < outline->zooms.count; i++) {
		buffer_append_string(out, ", ");
		buffer_append_string(out, outline->zooms.items[i].text);
	}
	if (*row_match_text(outline->match)) {
		buffer_append_string(out, ", with '");
		utf8_append_escaped(out, row_match_text(outline->match));
		buffer_append_string(out, "'");
	}
}
