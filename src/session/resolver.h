/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts a sample's address to a location: a symbol of a dso, or an address in a dso (or
 * anywhere) without a symbol. Equal locations have equal numbers, so profiles can count by number.
 */
#ifndef SESSION_RESOLVER_H
#define SESSION_RESOLVER_H

#include <stdint.h>

#include "session/session.h"

#define LOCATION_NO_DSO SPACE_UNMAPPED

struct location {
	uint32_t dso;		     /* in the session's dsos; LOCATION_NO_DSO: unknown */
	const struct symbol *symbol; /* NULL: there is none at the address */
	const struct symbol_table *table; /* that contains the symbol */
	/*
	 * The symbol's start; without a symbol: address in the dso, or else the ip; a DSO_SYMBOL's
	 * start.
	 */
	uint64_t address;
	char *name;  /* demangled when first requested; owned */
	bool varies; /* the machine had several kernels, so addresses mean little */
	bool inlined; /* the function NAME, inlined into the symbol's */
	uint32_t source; /* its source line, a string of the session; 0: not wanted, not known */
};

struct resolved {
	uint64_t address; /* of the ip in its dso: symbols use this */
	uint32_t location;
	uint32_t *tag; /* for the caller, per address: initially 0; valid until the next call */
};

struct resolver;

struct resolver *resolver_create(struct session *session);
/*
 * For another thread: both find the same numbers, except that each may have its own for an address
 * without a symbol. Of RESOLVER, only its locations are used, and it keeps them.
 */
struct resolver *resolver_create_beside(struct resolver *resolver);
void resolver_destroy(struct resolver *resolver); /* takes NULL */
/*
 * Before the first lookup: a location is also of one source line alone, like the places of perf's
 * key srcline; without a line it is of one address.
 */
void resolver_want_lines(struct resolver *resolver);
/*
 * Before the first lookup: all addresses of a dso without a symbol are one location, whose address
 * is the lowest of them. Not if lines are wanted.
 */
void resolver_merge_unnamed(struct resolver *resolver);

/* The location of IP in SPACE of MACHINE at TIME; SPACE is ignored if MACHINE is NULL. */
struct resolved resolver_find(struct resolver *resolver, struct machine *machine,
			      struct space *space, uint64_t ip, uint64_t time);

/*
 * The same in two steps, for batches of addresses: the first prefetches the data that the second
 * needs, which is where most of the time goes. What the first needs can be prefetched, too.
 */
struct lookup {
	struct machine *machine;
	const struct space_mapping *mapping; /* NULL: none */
	uint64_t address, time, hash;
	/* The same ip has the same result at times in [from, until), with the same kernel. */
	uint64_t from, until;
	uint32_t domain, kernel;
};
void resolver_prefetch(const struct resolver *resolver, const struct space *space, uint64_t ip);
void resolver_begin(struct resolver *resolver, struct machine *machine, struct space *space,
		    uint64_t ip, uint64_t time, struct lookup *ret);
struct resolved resolver_finish(struct resolver *resolver, const struct lookup *lookup);

/*
 * The locations of the functions that are inlined at the address of LOOKUP, which is looked up: the
 * outermost first. A function inlined into one of its own name is that one's location, as in perf.
 * Valid until the next call.
 */
const uint32_t *resolver_inlined(struct resolver *resolver, const struct lookup *lookup,
				 size_t *ret_count);
/*
 * What is known of the source at the address of LOOKUP, which is looked up. Valid until the next
 * lookup by any resolver of the session.
 */
struct source_frames resolver_source(struct resolver *resolver, const struct lookup *lookup);

/* Symbols have come that were not known: addresses are looked up anew. Locations stay. */
void resolver_look_again(struct resolver *resolver);
/* There will be no more lookups: frees data that is only needed for them. Locations stay. */
void resolver_seal(struct resolver *resolver);

struct session *resolver_session(const struct resolver *resolver);
size_t resolver_count(const struct resolver *resolver); /* of locations so far */
const struct location *resolver_location(struct resolver *resolver, uint32_t number);
/* The start of the location's function, to subtract from resolved.address. */
uint64_t resolver_symbol_start(struct resolver *resolver, uint32_t number);
/* The symbol's demangled name; NULL for a location without a symbol. */
const char *resolver_symbol_name(struct resolver *resolver, uint32_t number);
/* The dso's name in perf script ("/usr/lib/libc.so.6"). */
const char *resolver_dso_path(struct resolver *resolver, uint32_t number);
/* The dso's name in perf report ("libc.so.6"): a number in the session's strings. */
uint32_t resolver_dso_name(struct resolver *resolver, uint32_t number);

DEFINE_CLEANUP(cleanup_resolver, struct resolver *, resolver_destroy)
#define _cleanup_resolver_ _cleanup_(cleanup_resolver)

#endif
