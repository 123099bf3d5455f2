/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caged process; perfvisor starts itself as one (src/base/cage.h). */
#ifndef CMD_GUEST_PARSER_H
#define CMD_GUEST_PARSER_H

#include "base/error.h"

/* Returns only if the cage could not be entered, with the reason. */
struct error *guest_parser_run(void) MUST_CHECK;

#endif
