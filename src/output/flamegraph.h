/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flame graph: a single HTML page that contains the stacks and loads nothing else. */
#ifndef OUTPUT_FLAMEGRAPH_H
#define OUTPUT_FLAMEGRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "output/stacks.h"

/*
 * STACKS must be those of PROFILE's EVENT; PATH names the recording. Write errors stay in OUT
 * (ferror).
 */
void flamegraph_write(FILE *out, const struct profile *profile, size_t event,
		      const struct stacks *stacks, const char *path);

/* Whether the file PATH is such a page, of whatever version, or empty. */
bool flamegraph_is_page(const char *path);

#endif
