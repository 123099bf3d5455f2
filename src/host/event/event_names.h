/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that the kernel has names for: hardware, software and cache events. */
#ifndef HOST_EVENT_EVENT_NAMES_H
#define HOST_EVENT_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

/* Type and config of NAME; upper and lower case as in perf. False: no such name. */
bool event_name_find(const char *name, uint32_t *ret_type, uint64_t *ret_config);

/*
 * Names that the user may have meant by NAME, best first: "cycles, cpu-cycles"; NULL: nothing is
 * similar. malloc()ed. CANDIDATES (borrowed) are considered in addition to the symbolic names.
 */
struct event_candidates {
	VECTOR(char *) names;
};
char *event_name_suggest(const char *name, const struct event_candidates *candidates);

#endif
