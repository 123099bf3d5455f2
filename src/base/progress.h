/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line on stderr that says how far long work is: rewritten in place, a few times a
 * second, and only where stderr is a terminal; silent elsewhere.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct progress {
	uint64_t shown_ns; /* CLOCK_MONOTONIC of the last rewrite */
	bool active;	   /* a line stands on the terminal */
};

/* True if it is time to say something again: ask it before formatting costs anything. */
bool progress_due(const struct progress *progress);
void progress_show(struct progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);
void progress_end(struct progress *progress); /* removes the line */

/* Makes room for another line on stderr where a progress line may stand. */
void progress_clear_line(void);

uint64_t clock_monotonic_ns(void);

#endif
