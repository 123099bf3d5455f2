/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of an event as a tree: below what the first key tells apart, what the second does … */
#ifndef OUTPUT_REPORT_HIERARCHY_H
#define OUTPUT_REPORT_HIERARCHY_H

#include <stdint.h>

#include "base/intern.h"
#include "base/vector.h"
#include "profile/profile.h"

struct hierarchy_node {
	uint32_t parent; /* of the nodes; the root is its own */
	uint32_t level;	 /* place of its key; of the root -1 */
	uint32_t text;	 /* its cell, in texts */
	uint64_t period, count;
};

struct hierarchy {
	/* The root; then each behind its parent, neighbours by their periods, highest first. */
	VECTOR(struct hierarchy_node) nodes;
	struct intern *texts;
	uint32_t last_level;
};

/* Rows without samples of their own are left out. */
void hierarchy_init(struct hierarchy *hierarchy, const struct profile *profile,
		    const struct profile_event *event, const struct profile_keys *keys);
void hierarchy_deinit(struct hierarchy *hierarchy);

#endif
