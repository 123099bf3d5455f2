/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the user's terminal can do, and wants, by the environment. */
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* TERM is not set, or says that escape sequences mean nothing to it. */
static inline bool terminal_is_dumb(void)
{
	const char *terminal = getenv("TERM");

	return !terminal || !strcmp(terminal, "dumb");
}

/* Colours, on a terminal: not if NO_COLOR is set to anything (no-color.org). */
static inline bool terminal_wants_colors(void)
{
	const char *unwanted = getenv("NO_COLOR");

	return !(unwanted && *unwanted) && !terminal_is_dumb();
}

#endif
