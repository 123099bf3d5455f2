/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a browser shows of a profile, as lines that fold: groups, if the rows are grouped; rows;
 * calls, which are the call chains below a row. This is the model alone: which lines there are, in
 * which order, and what stands in them. src/terminal draws it.
 *
 * Lines have numbers from 0 on, from the top; they change with whatever changes the outline. A line
 * is made when the line above it is unfolded, and its text when it is asked for, so that a profile
 * of a million rows costs little more than one that fits the screen.
 */
#ifndef VIEW_OUTLINE_H
#define VIEW_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "output/report_columns.h"
#include "profile/profile.h"

struct outline_options {
	const struct profile_keys *keys;      /* what the profile was counted by; borrowed */
	const struct report_columns *columns; /* those, and shares and sums; borrowed */
	bool children;	/* shares include children, if the profile has any */
	bool chains;	/* rows unfold to call chains: for a profile with chains */
	bool caller;	/* … from the outermost function on; false: from the innermost */
	bool hierarchy; /* the keys as levels, one below the other; then there are no chains */
	bool absolute;	/* shares after zooming in are of everything, too */
	double min_percent;	  /* rows with a smaller share are left out */
	double min_chain_percent; /* the same for calls */
};

enum outline_kind { OUTLINE_GROUP, OUTLINE_ROW, OUTLINE_CALL };
enum outline_fold { OUTLINE_LEAF, OUTLINE_FOLDED, OUTLINE_UNFOLDED };

struct outline_line {
	enum outline_kind kind;
	enum outline_fold fold;
	unsigned int indent; /* how far to the right of the outermost lines */
	/* period, count and, if children_known, children: what share columns show */
	struct profile_row row;
	bool children_known;
	bool forks; /* of a call: it begins a branch and shows its share; others continue one */
};

/* One thing to look closer at: what the samples of a line have in common. */
struct outline_zoom {
	enum profile_key key;
	uint64_t value; /* tells apart what the key does */
	char *text;	/* "VM web1"; escaped */
};

struct outline;

/* PROFILE, which is borrowed, has at least one event with samples: the first of them is shown. */
struct outline *outline_create(const struct profile *profile,
			       const struct outline_options *options);
void outline_destroy(struct outline *outline); /* takes NULL */

const struct profile *outline_profile(const struct outline *outline);
const struct outline_options *outline_options(const struct outline *outline);
const struct profile_event *outline_event(const struct outline *outline);
uint64_t outline_total(const struct outline *outline); /* what shares are of */

size_t outline_count(const struct outline *outline); /* of lines */
void outline_line(const struct outline *outline, size_t number, struct outline_line *ret);
/* Whether lines that are rows show KEY: false if a group above them already does. */
bool outline_shows(const struct outline *outline, enum profile_key key);
/* Appends the cell of line NUMBER, a row, in the column of KEY. Names are escaped. */
void outline_append_cell(const struct outline *outline, size_t number, enum profile_key key,
			 struct buffer *out);
/* Appends the text of line NUMBER: of a group its name, of a call the function, of a row all. */
void outline_append_text(const struct outline *outline, size_t number, struct buffer *out);
/* The nearest line above NUMBER that it belongs to; NUMBER itself if there is none. */
size_t outline_above(const struct outline *outline, size_t number);

/* What outline_find() looks for: a text in some column, whatever its case. Copied. */
void outline_set_wanted(struct outline *outline, const char *text);
const char *outline_wanted(const struct outline *outline);
/*
 * The nearest line that contains it, after FROM or, BACKWARDS, before it; at the end it goes on at
 * the other end. outline_count(): there is none.
 */
size_t outline_find(struct outline *outline, size_t from, bool backwards);

/* Unfold or fold line NUMBER; false: it cannot be. Lines above it stay where they are. */
bool outline_unfold(struct outline *outline, size_t number);
bool outline_fold(struct outline *outline, size_t number);
/* The same for everything below it, too. False: too much to unfold, so only some of it is. */
bool outline_unfold_all(struct outline *outline, size_t number);
void outline_fold_all(struct outline *outline, size_t number);

/* What follows begins anew: everything is folded. */

/* Shows the next event with samples. False: there is no other. */
bool outline_next_event(struct outline *outline);
/* Shows the rows that contain TEXT in some column, whatever its case; "": all. Copied. */
void outline_set_filter(struct outline *outline, const char *text);
const char *outline_filter(const struct outline *outline);
/* Groups the rows by KEY; PROFILE_KEY_COUNT: by none. False: the rows do not know it. */
bool outline_group_by(struct outline *outline, enum profile_key key);
enum profile_key outline_group(const struct outline *outline);
/* By the share without children, or with them, which needs children. */
void outline_sort_by_self(struct outline *outline, bool self);
bool outline_is_sorted_by_self(const struct outline *outline);
/* Call chains from the outermost function on, or from the innermost. */
void outline_set_caller(struct outline *outline, bool caller);
void outline_set_absolute(struct outline *outline, bool absolute);
/* Whether what was zoomed into leaves out samples, of which shares could be or not. */
bool outline_narrows_samples(const struct outline *outline);

/*
 * What line NUMBER can be zoomed into: appended to RET, which has room for PROFILE_KEY_COUNT, for
 * the caller to free with outline_zooms_free().
 */
size_t outline_zooms_of(struct outline *outline, size_t number, struct outline_zoom *ret);
void outline_zooms_free(struct outline_zoom *zooms, size_t count);
/* Shows only rows that have it, within what is shown already. */
void outline_zoom_in(struct outline *outline, const struct outline_zoom *zoom);
bool outline_zoom_out(struct outline *outline); /* false: all is shown */
/* Appends what is shown: "by children, VM web1, '/read'". */
void outline_append_state(const struct outline *outline, struct buffer *out);

/*
 * The same outline of another profile: outline_suspend() before the one that it shows changes or
 * goes, and outline_resume() with the other one, which has rows by the keys that the options then
 * have. In between, the outline can only be destroyed. What is shown, and how, stays; rows that
 * were unfolded are so again, if they are still there. Returns the number of the line that was
 * CURSOR before; if that is gone, of the one above that it belonged to; without that, CURSOR.
 *
 * While there are no rows at all, what was unfolded before is not forgotten.
 */
void outline_suspend(struct outline *outline, size_t cursor);
size_t outline_resume(struct outline *outline, const struct profile *profile, size_t cursor);

#endif
