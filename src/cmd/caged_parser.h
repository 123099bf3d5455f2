/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caged processes; perfvisor starts itself as one (src/walls/cage.h). */
#ifndef CMD_CAGED_PARSER_H
#define CMD_CAGED_PARSER_H

#include "walls/cage.h"

/* The kind that COMMAND stands for; false: none. */
bool caged_parser_find(const char *command, enum cage_kind *ret);
/* Returns only if the cage could not be entered, with the reason. */
struct error *caged_parser_run(enum cage_kind kind) MUST_CHECK;

#endif
