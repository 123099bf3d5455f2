/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address space over the time of a recording: every mapping with the time from which
 * it holds, so that an address can be looked up as of any moment, in any order. A mapping
 * hides what older ones had at the same addresses (the kernel records no unmapping).
 *
 * First all mappings are added, in the order of their times; then only lookups follow.
 */
#ifndef SESSION_SPACE_H
#define SESSION_SPACE_H

#include <stdint.h>

#include "base/vector.h"

#define SPACE_FOREVER UINT64_MAX
#define SPACE_UNMAPPED UINT32_MAX

struct space_mapping {
	uint64_t start, end; /* end is exclusive and above start */
	uint64_t file_offset;
	uint64_t from; /* holds from this time on */
	uint32_t dso;  /* number in the session's list of dsos; SPACE_UNMAPPED: nothing any more */
};

struct space {
	VECTOR(struct space_mapping) mappings;
	/* fork: what is not mapped here is as it was there then; NULL: nothing else */
	struct space *parent;
	uint64_t forked_at;
	struct space_index *index; /* built by the first lookup that is worth one */
	uint32_t number;	   /* unique in the session: keys caches */
};

void space_init(struct space *space, uint32_t number);
void space_deinit(struct space *space);

/* MAPPING's time must not be before that of the one added last. */
void space_add(struct space *space, const struct space_mapping *mapping);
/* Makes SPACE start as a copy of what PARENT is at TIME. */
void space_fork(struct space *space, struct space *parent, uint64_t time);

struct space_lookup {
	const struct space_mapping *mapping; /* NULL: nothing is mapped there */
	uint64_t from, until;		     /* the answer holds in [from, until) */
};

/* What is at ADDRESS at TIME. Gives up (unmapped) behind 64 forks without an exec. */
struct space_lookup space_find(struct space *space, uint64_t address, uint64_t time);

#endif
