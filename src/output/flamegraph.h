/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph, alone or in a report: a single HTML page that contains the stacks and loads
 * nothing else.
 */
#ifndef OUTPUT_FLAMEGRAPH_H
#define OUTPUT_FLAMEGRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "output/stacks_diff.h"

/* All is borrowed. */
struct flamegraph_page {
	const struct profile *profile;
	size_t event;
	struct stacks *stacks; /* of the profile's event; what is small in them is merged */
	/*
	 * Of each node of the profile's call tree, the stack; STACK_NONE: of another event. The
	 * page is then a report, with the times of the profile's samples. NULL: a graph alone.
	 */
	const uint32_t *places;
	const char *title;	     /* the path of the recording, and its VM if it has several */
	const struct stacks_diff *diff; /* NULL: there is nothing to compare with; has the stacks */
	const char *base_title;		/* of what they are compared with */
};

/* Write errors stay in OUT (ferror). */
void flamegraph_write(FILE *out, const struct flamegraph_page *page);

/* Whether the file PATH is such a page, of whatever version, or empty. */
bool flamegraph_is_page(const char *path);

#endif
