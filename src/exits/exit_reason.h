/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an exit is called, in perf's words. Part of exits.c. */
#ifndef EXITS_EXIT_REASON_H
#define EXITS_EXIT_REASON_H

#include "base/buffer.h"
#include "exits/exits.h"

/* Appends what ROW, of EVENT, counts: "HLT", "0xfee00300:W". */
void exit_reason_append(enum exits_event event, const struct exits_row *row, struct buffer *out);

#endif
