/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another profile for the same outline: rows come, go and change places, and numbers in the profile
 * are others. So lines that are unfolded, and that of the cursor, are remembered by what tells them
 * apart, as a hash of that and of the line above. Its seed differs per outline: names that collide
 * are a matter of luck.
 */
#include "base/memory.h"
#include "profile/calltree.h"
#include "view/outline_nodes.h"

enum fold { NOT_KNOWN, UNFOLDED, FOLDED };

/* What tells NODE apart from all others, if the node above it has PATH. */
static uint64_t path_of(struct outline *outline, const struct outline_node *node, uint64_t path)
{
	uint64_t words[2] = { path, node->kind };
	const struct profile_keys *keys;
	const struct profile_row *row;

	path = hash_bytes_seeded(outline->folds.seed, words, sizeof(words));
	if (node->kind == OUTLINE_CALL) {
		const struct chains_frame *frames = outline->profile->tree->frames.items;
		const struct chains_frame *frame =
			&frames[outline->branches.items[node->branch].frame];

		return hash_u64(path ^ outline_lasting_function(outline, frame->location,
								frame->cpumode));
	}
	keys = &outline->levels[node->depth - 1];
	row = &outline->event->rows.items[outline->items.items[node->items]];
	for (size_t i = 0; i < keys->count; i++)
		path = hash_u64(path ^ outline_lasting_value(outline, row, keys->items[i]));
	return path;
}

/* Continued branches unfold by themselves, so one that the user folded is remembered, too. */
static enum fold fold_of(const struct outline_node *node)
{
	if (node->unfolded)
		return UNFOLDED;
	return node->kind == OUTLINE_CALL && node->count ? FOLDED : NOT_KNOWN;
}

static void remember(struct outline *outline, size_t cursor)
{
	VECTOR(uint64_t) paths = { 0 }; /* of the nodes above a line */

	map_deinit(&outline->folds);
	map_init(&outline->folds);
	outline->cursor_path.count = 0;
	for (size_t i = 0; i < outline->lines.count; i++) {
		const struct outline_node *node = &outline->nodes.items[outline->lines.items[i]];
		enum fold fold = fold_of(node);
		uint64_t path;

		if (fold == NOT_KNOWN && i != cursor)
			continue;
		paths.count = node->depth - 1;
		path = path_of(outline, node, paths.count ? paths.items[paths.count - 1] : 0);
		vector_append(&paths, path);
		if (fold != NOT_KNOWN)
			*map_insert(&outline->folds, path, NULL) = fold;
		for (size_t k = 0; i == cursor && k < paths.count; k++)
			vector_append(&outline->cursor_path, paths.items[k]);
	}
	vector_deinit(&paths);
}

void outline_suspend(struct outline *outline, size_t cursor)
{
	if (outline->event->rows.count) /* or what was there before is remembered */
		remember(outline, cursor);
	outline_forget_calls(outline);
	callgraph_destroy(take_pointer(outline->graph));
	identities_destroy(take_pointer(outline->functions));
	outline->items.count = outline->nodes.count = 0;
	outline->order.count = outline->lines.count = 0;
	outline->profile = NULL;
	outline->event = NULL;
}

/* Unfolds what is remembered below node NUMBER. *RET: the last one of the cursor's path. */
static void recall(struct outline *outline, uint32_t number, uint64_t path, uint32_t *ret)
{
	const struct outline_node above = outline->nodes.items[number];

	for (size_t i = above.first; i < (size_t)above.first + above.count; i++) {
		uint32_t child = outline->order.items[i];
		uint64_t own = path_of(outline, &outline->nodes.items[child], path);
		const uint64_t *fold = map_find(&outline->folds, own);

		if (above.depth < outline->cursor_path.count &&
		    outline->cursor_path.items[above.depth] == own)
			*ret = child;
		if (fold && *fold == FOLDED)
			outline->nodes.items[child].unfolded = false;
		else if (fold && outline_unfold_node(outline, child))
			recall(outline, child, own, ret);
	}
}

size_t outline_resume(struct outline *outline, const struct profile *profile, size_t cursor)
{
	uint32_t found = 0; /* the root: the cursor's line is gone */

	outline->profile = (struct profile *)profile;
	row_match_renew(outline->match, profile);
	row_match_renew(outline->wanted, profile);
	outline->event = &profile->events[outline_event_from(outline, outline->event_wanted)];
	if (outline->event->rows.count && outline->group != PROFILE_KEY_COUNT &&
	    !outline_knows(outline, outline->group))
		outline->group = PROFILE_KEY_COUNT;
	outline_choose_levels(outline);
	outline_restart(outline);
	if (!outline->folds.count && !outline->cursor_path.count)
		return cursor;
	recall(outline, 0, 0, &found);
	outline_list_lines(outline);
	for (size_t i = 0; found && i < outline->lines.count; i++)
		if (outline->lines.items[i] == found)
			return i;
	return cursor;
}
