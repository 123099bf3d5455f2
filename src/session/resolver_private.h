/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by resolver.c and resolver_source.c. */
#ifndef SESSION_RESOLVER_PRIVATE_H
#define SESSION_RESOLVER_PRIVATE_H

#include "session/resolver.h"

#define PAGE_SHIFT 12
#define PAGES 4096

#define UNNAMED ((uint64_t)1 << 63) /* no address of this program's memory has this bit */

/* What contains an address: the number of a dso, or one of these. */
#define DOMAIN_KERNEL 0x80000000U /* | number of the kernel's space */
#define DOMAIN_NOWHERE UINT32_MAX

struct cached {
	uint64_t address;
	uint32_t domain;
	uint32_t location; /* + 1; 0: empty entry */
	uint32_t tag;
	uint32_t inlined; /* index in inlined + 1; 0: not known yet */
};

struct cached_page {
	uint64_t page;
	uint64_t from, until; /* until 0: empty entry */
	uint64_t bias;	      /* ip + bias is the address in the dso */
	const struct space_mapping *mapping;
	uint32_t space, domain;
	uint64_t stamp; /* the session's */
};

struct locations {
	VECTOR(struct location) list;
	/* a symbol's address in memory, or UNNAMED | dso -> location + 1 */
	struct map by_symbol;
	bool lines;		   /* resolver_want_lines() */
	bool unnamed_alike;	   /* resolver_merge_unnamed() */
	struct intern *parts; /* struct location_part as bytes, if there are any … */
	VECTOR(uint32_t) by_part; /* … -> location, by the part's number less one */
};

/* A part of a symbol: one of its lines, or a function inlined into it. Compared as bytes. */
struct location_part {
	uint64_t symbol;	   /* its address in memory */
	uint32_t function, source; /* strings of the session; function 0: the symbol's own */
};

/* The functions inlined at an address. */
struct inlined {
	size_t start;
	size_t count;
};

struct resolver {
	struct session *session;
	/* shared by several resolvers; protected by the session's lock */
	struct locations *locations;
	bool borrowed;		     /* owned by another resolver */
	struct cached *cache;
	size_t capacity, count; /* capacity is a power of two */
	uint64_t seed;
	VECTOR(struct inlined) inlined;
	VECTOR(uint32_t) inlined_locations;
	struct cached_page pages[PAGES];
};

uint32_t resolver_add_location(struct resolver *resolver, const struct location *location);
/* The entry of LOOKUP's address, which has a location; valid until the next lookup. */
struct cached *resolver_cached(const struct resolver *resolver, const struct lookup *lookup);
/* The number of the part of LOCATION's symbol that has its function (if inlined) and source. */
uint32_t resolver_share_part(struct resolver *resolver, const struct location *location);
/* Sets LOCATION's source, as it is shown, for the address of LOOKUP. */
void resolver_set_source(struct resolver *resolver, const struct lookup *lookup,
			 struct location *location);

#endif
