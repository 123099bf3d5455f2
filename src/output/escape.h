/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names from files and guests on their way to a terminal. */
#ifndef OUTPUT_ESCAPE_H
#define OUTPUT_ESCAPE_H

#include "base/buffer.h"

/*
 * Appends TEXT with control characters (C0, DEL, and C1 in UTF-8) as \xNN. Everything else
 * stays as it is, so that usual names are what perf prints.
 */
void output_append_escaped(struct buffer *out, const char *text);

#endif
