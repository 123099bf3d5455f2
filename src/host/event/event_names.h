/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events that the kernel has names for: hardware, software and cache events. */
#ifndef HOST_EVENT_EVENT_NAMES_H
#define HOST_EVENT_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vector.h"

/* Type and config of NAME, case as perf takes it; false: no such name. */
bool event_name_find(const char *name, uint32_t *ret_type, uint64_t *ret_config);

/* Names that NAME may be a slip of, best first: "cycles, cpu-cycles"; NULL: none is near.
 * malloc()ed. CANDIDATES (borrowed) are considered beside the symbolic names. */
struct event_candidates {
	VECTOR(char *) names;
};
char *event_name_suggest(const char *name, const struct event_candidates *candidates);

#endif
