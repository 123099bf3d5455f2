/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address space over the time of a recording: every mapping with the time from which it applies,
 * so that addresses can be looked up for any time, in any order. A mapping hides older ones at the
 * same addresses (the kernel does not record unmapping).
 *
 * Mappings are added in order of time, and not while addresses are looked up by other threads.
 */
#ifndef SESSION_SPACE_H
#define SESSION_SPACE_H

#include <stdint.h>

#include "base/vector.h"

#define SPACE_FOREVER UINT64_MAX
#define SPACE_UNMAPPED UINT32_MAX

struct space_mapping {
	uint64_t start, end; /* end is exclusive, and above start */
	uint64_t file_offset;
	uint64_t from; /* applies from this time on */
	uint32_t dso;  /* in the session's list of dsos; SPACE_UNMAPPED: no longer mapped */
};

struct space {
	VECTOR(struct space_mapping) mappings;
	/* fork: addresses not mapped here are as in the parent at that time; NULL: none */
	struct space *parent;
	uint64_t forked_at;
	struct space_index *index; /* built by the first lookup that is worth it */
	uint32_t number;	   /* unique in the session: key for caches */
};

void space_init(struct space *space, uint32_t number);
void space_deinit(struct space *space);

/* MAPPING's time must not be before that of the last one added. */
void space_add(struct space *space, const struct space_mapping *mapping);
/* Makes SPACE start as a copy of PARENT at TIME. */
void space_fork(struct space *space, struct space *parent, uint64_t time);

struct space_lookup {
	const struct space_mapping *mapping; /* NULL: nothing is mapped */
	uint64_t from, until;		     /* the result applies to [from, until) */
};

/* The mapping at ADDRESS at TIME. Gives up (unmapped) after 64 forks without an exec. */
struct space_lookup space_find(struct space *space, uint64_t address, uint64_t time);

#endif
