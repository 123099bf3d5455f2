/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears at its path only when it is complete: it is written next to it, under another
 * name, and renamed. Whatever goes wrong, what was at the path before stays as it is.
 */
#ifndef BASE_REPLACEMENT_H
#define BASE_REPLACEMENT_H

#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"

struct replacement {
	FILE *out;
	char *path, *beside; /* owned; beside is NULL where there is nothing to rename */
};

/*
 * Opens RET for PATH; the new file is readable by its owner alone. A link is followed if it is this
 * process's user's or root's. What is there and is no regular file (a pipe, a device) is written to
 * as it is; it cannot be exchanged for something else after that was seen.
 *
 * Not prevented: whoever owns a folder on the way to PATH chooses where that way leads.
 */
struct error *replacement_begin(const char *path, struct replacement *ret) MUST_CHECK;
/* All was written. Fails if anything could not be. */
struct error *replacement_close(struct replacement *replacement) MUST_CHECK;
/* Puts the file, which was closed, in its place. */
struct error *replacement_put(struct replacement *replacement) MUST_CHECK;
/* Gives up what is not finished, and frees what is left. Takes what is zeroed. */
void replacement_deinit(struct replacement *replacement);

#define _cleanup_replacement_ _cleanup_(replacement_deinit)

#endif
