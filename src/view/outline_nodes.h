/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes that an outline's lines are made of. Part of outline.c and its neighbours alone. */
#ifndef VIEW_OUTLINE_NODES_H
#define VIEW_OUTLINE_NODES_H

#include "base/map.h"
#include "base/vector.h"
#include "profile/callgraph.h"
#include "profile/identity.h"
#include "view/outline.h"
#include "view/row_match.h"

struct outline_node {
	uint32_t parent;	    /* the root, node 0, is its own */
	uint32_t first, count;	    /* children: a place in `order`, and how many, once built */
	uint32_t items, item_count; /* of what is no call: the rows it stands for, in `items` */
	uint32_t branch;	    /* of a call: in `branches` */
	uint16_t depth;		    /* how many nodes are above it */
	uint16_t indent;
	uint8_t kind; /* an enum outline_kind */
	bool built, unfolded;
	bool forks, children_known;
	uint64_t period, children, samples;
};

struct outline {
	struct profile *profile;
	struct outline_options options;
	const struct profile_event *event;
	size_t event_wanted; /* the number of the chosen event, which may have no samples */
	/* What tells apart the children of the root, those of its children, … */
	struct profile_keys levels[PROFILE_KEY_COUNT + 1];
	size_t level_count;
	enum profile_key group;
	bool by_self;
	VECTOR(struct outline_zoom) zooms;
	struct row_match *match, *wanted; /* the filter, and what is searched for */
	struct identities *functions; /* NULL: not needed yet */
	uint64_t total;
	bool lacks_rows; /* of what was zoomed into: the filter or the limit has hidden some */

	VECTOR(uint32_t) items; /* rows of the event that are shown; of each node in one piece */
	VECTOR(struct outline_node) nodes;
	VECTOR(uint32_t) order; /* nodes; children of one in one piece, sorted */
	VECTOR(uint32_t) lines; /* nodes that are visible, from the top */
	VECTOR(struct callgraph_branch) branches;
	struct callgraph *graph; /* NULL: not needed yet */
	uint32_t entered;	 /* the node whose rows are entered in it; 0: none */

	/* Of the profile before (outline_renew.c): what was unfolded, and the cursor's nodes. */
	struct map folds;
	VECTOR(uint64_t) cursor_path;
};

/* outline.c */
/* Makes all lines anew; nothing is unfolded then. */
void outline_restart(struct outline *outline);
/* Makes the list of lines from the nodes. */
void outline_list_lines(struct outline *outline);
/* False: nothing is below node NUMBER. The list of lines is not changed. */
bool outline_unfold_node(struct outline *outline, uint32_t number);
/* The levels that the options and the group ask for. */
void outline_choose_levels(struct outline *outline);
/* The number of the first event with samples, from FROM on; at the end it goes on with 0. */
size_t outline_event_from(const struct outline *outline, size_t from);

/* outline_values.c */
/* Whether rows know KEY, or what it is made of. */
bool outline_knows(const struct outline *outline, enum profile_key key);
/* Tells apart rows as KEY does. */
uint64_t outline_value(struct outline *outline, const struct profile_row *row,
		       enum profile_key key);
/* The same with a number that is also that of other profiles of the same VMs. */
uint64_t outline_lasting_value(struct outline *outline, const struct profile_row *row,
			       enum profile_key key);
uint64_t outline_lasting_function(struct outline *outline, uint32_t location, uint16_t cpumode);
/* Whether KEY is the same for all functions in a chain. */
bool outline_is_of_sample(enum profile_key key);

/* outline_rows.c */
/* Makes `items` and the root anew: the rows that the limit, the zooms and the filter leave. */
void outline_select(struct outline *outline);
/* Makes the children of NODE, which is the root or a group. */
void outline_split(struct outline *outline, uint32_t node);
/* The COUNT nodes that were appended last are PARENT's children, in this order. */
void outline_adopt(struct outline *outline, uint32_t parent, size_t count);
/* The keys that all rows of a node at DEPTH have in common. */
void outline_common_keys(const struct outline *outline, size_t depth, struct profile_keys *ret);

/* outline_calls.c */
/* Makes the children of NODE, a row or a call, and unfolds those that continue a branch. */
void outline_call(struct outline *outline, uint32_t node);
/* Forgets all calls and how they are drawn. */
void outline_forget_calls(struct outline *outline);

#endif
