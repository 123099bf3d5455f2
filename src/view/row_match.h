/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of a profile contain a text. A name is looked at once, however many rows have it, so
 * that half a million rows are filtered while a user types.
 */
#ifndef VIEW_ROW_MATCH_H
#define VIEW_ROW_MATCH_H

#include <stdbool.h>

#include "profile/profile.h"

struct row_match;

struct row_match *row_match_create(const struct profile *profile); /* borrowed */
void row_match_destroy(struct row_match *match); /* takes NULL */

/* Now for PROFILE, which is borrowed. */
void row_match_renew(struct row_match *match, const struct profile *profile);

/* "": matches all rows, as at first. Copied. */
void row_match_set(struct row_match *match, const char *text);
const char *row_match_text(const struct row_match *match);
/* Whether TEXT contains it; ASCII letters in either case. */
bool row_match_has(const struct row_match *match, const char *text);
/* Whether ROW contains the text in the cell of one of KEYS. */
bool row_match_row(struct row_match *match, const struct profile_row *row,
		   const struct profile_keys *keys);

#endif
