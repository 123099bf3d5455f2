/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of a report: shares and sums, called as perf's -F calls them, and keys. */
#ifndef OUTPUT_REPORT_COLUMNS_H
#define OUTPUT_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "output/sample_texts.h"
#include "profile/profile.h"

enum report_field {
	REPORT_CHILDREN, /* the share with children */
	REPORT_OVERHEAD, /* the share without */
	REPORT_SAMPLES,
	REPORT_PERIOD,
	REPORT_IPC, /* instructions per cycle */
	REPORT_KEY,
};

struct report_column {
	enum report_field field;
	enum profile_key key; /* of REPORT_KEY */
	size_t width;	      /* in characters; 0: as wide as its widest cell */
};

/* Each field and each key is in it at most once. */
#define REPORT_MAX_COLUMNS (REPORT_KEY + PROFILE_KEY_COUNT)

struct report_columns {
	struct report_column items[REPORT_MAX_COLUMNS];
	size_t count;
	/* Not those of -F: the share without children is called Self, next to one with. */
	bool usual;
};

bool report_columns_have(const struct report_columns *columns, enum report_field field);
void report_columns_add(struct report_columns *columns, enum report_field field,
			enum profile_key key); /* once is enough */
/* The columns of -F: TEXT's words, separated by commas, with the keys of TEXTS. Appends to RET. */
struct error *report_columns_parse(const char *text, struct sample_texts *texts,
				   struct report_columns *ret) MUST_CHECK;
/* The widths of -w: numbers, separated by commas, for the columns in their order; 0: its own. */
struct error *report_columns_set_widths(const char *text,
					struct report_columns *columns) MUST_CHECK;

/* The width of the cells of a column that is no key, and its title. */
size_t report_field_width(enum report_field field);
const char *report_field_title(const struct report_columns *columns, enum report_field field);

/* The part of TOTAL that ROW has in FIELD, which is a share, in percent; of no total 0. */
double report_field_percent(enum report_field field, const struct profile_row *row, uint64_t total);
/*
 * Whether ROW has a line, whose share of TOTAL is at least MIN_PERCENT. CHILDREN: the share with
 * children; without them, functions that only occur in chains have no line.
 */
bool report_row_is_shown(const struct profile_row *row, uint64_t total, bool children,
			 double min_percent);
/* Appends ROW's cell of FIELD, which is no key. Shares are of TOTAL. */
void report_field_append(struct buffer *out, enum report_field field,
			 const struct profile_row *row, uint64_t total);

#endif
