/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The caged process that perfvisor starts of itself (src/host/inspect/cage.h). */
#ifndef CMD_GUEST_PARSER_H
#define CMD_GUEST_PARSER_H

#include "base/error.h"

/* Does not return but with the reason why the cage could not be entered. */
struct error *guest_parser_run(void) MUST_CHECK;

#endif
