/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words used by all writers of a profile: the title of a column, the content of a cell, the
 * line of totals.
 */
#ifndef OUTPUT_VIEW_H
#define OUTPUT_VIEW_H

#include "base/buffer.h"
#include "profile/profile.h"

const char *view_title(const struct profile *profile, enum profile_key key); /* "Shared Object" */
/* "dso": its name in --sort */
const char *view_sort_word(const struct profile *profile, enum profile_key key);
/*
 * The key that WORD means in --sort (perf's names, too: "symbol"); false: none. Texts of samples
 * are sample_texts.h's.
 */
bool view_parse_key(const char *word, enum profile_key *ret);

/* Appends the cell of ROW in the column of KEY. Names are escaped. */
void view_append_cell(struct buffer *out, const struct profile *profile,
		      const struct profile_row *row, enum profile_key key);
/* Precedes the name of a guessed function, as in the kernel's own stack dumps. */
#define VIEW_GUESSED "? "
#define VIEW_INLINED " (inlined)" /* follows the name of an inlined function, as in perf */
/*
 * Appends the function of FRAME of the profile's call tree, or its address, and its source line if
 * that is a key; escaped.
 */
void view_append_function(struct buffer *out, const struct profile *profile, uint32_t frame);
/* perf's letter for the mode of a sample: 'k' '.' 'g' 'u', 'H' for anything else. */
char view_mode_letter(uint16_t cpumode);
const char *view_mode_words(uint16_t cpumode); /* "guest kernel" */

/* The columns that TEXT takes: counts characters, not bytes, as a terminal shows UTF-8. */
size_t view_text_width(const struct buffer *text);

/* "1234 samples: 34 host, 1000 guest kernel, …". The parts add up to the sum. */
void view_append_totals(struct buffer *out, const struct profile_totals *totals);
/* "1200 of 1234 complete (97.2 %); 30 no unwind data, …". False: there are no chains of guests. */
bool view_append_chain_ends(struct buffer *out, const struct profile_totals *totals);
const char *view_chain_end_words(enum perfdata_chain_end end);

#endif
