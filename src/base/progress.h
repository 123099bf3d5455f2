/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line on stderr that shows the progress of long work: rewritten in place a few times a second,
 * and only if stderr is a terminal.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct progress {
	uint64_t shown_ns; /* CLOCK_MONOTONIC of the last rewrite */
	bool active;	   /* a line is on the terminal */
};

/* True if the line is due for an update: check this before spending time on formatting. */
bool progress_due(const struct progress *progress);
void progress_show(struct progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);
void progress_end(struct progress *progress); /* removes the line */

/* Clears a progress line, if there is one, before another line goes to stderr. */
void progress_clear_line(void);

uint64_t clock_monotonic_ns(void);

#endif
