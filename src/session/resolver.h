/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address of a sample to a location: a symbol of a dso, or an address in it (or
 * anywhere) that no symbol holds. Equal locations have equal numbers, so that profiles
 * count by number.
 */
#ifndef SESSION_RESOLVER_H
#define SESSION_RESOLVER_H

#include <stdint.h>

#include "session/session.h"

#define LOCATION_NO_DSO SPACE_UNMAPPED

struct location {
	uint32_t dso;		     /* in the session's dsos; LOCATION_NO_DSO: unknown */
	const struct symbol *symbol; /* NULL: none holds the address */
	const struct symbol_table *table; /* of symbol */
	/* The symbol's start; without one: in the dso, else the ip; the start of a DSO_SYMBOL. */
	uint64_t address;
	char *name;  /* made for people when first asked for; owned */
	bool varies; /* the machine had several kernels: addresses mean little */
};

struct resolved {
	uint64_t address; /* of the ip in its dso: what symbols are relative to */
	uint32_t location;
	uint32_t *tag; /* the caller's, for this address: 0 at first; valid until the next call */
};

struct resolver;

struct resolver *resolver_create(struct session *session);
/*
 * For another thread: what both find has the same numbers, but for addresses without a symbol,
 * which may have one of each. Of RESOLVER no more is used than its locations, which stay its own.
 */
struct resolver *resolver_create_beside(struct resolver *resolver);
void resolver_destroy(struct resolver *resolver); /* takes NULL */

/* The location of IP in SPACE of MACHINE at TIME; SPACE is not used where MACHINE is NULL. */
struct resolved resolver_find(struct resolver *resolver, struct machine *machine,
			      struct space *space, uint64_t ip, uint64_t time);

/*
 * The same in two steps, for many addresses at once: the first fetches what the second needs
 * into the processor's cache, which is most of the time that it takes.
 */
struct lookup {
	struct machine *machine;
	const struct space_mapping *mapping; /* NULL: none */
	uint64_t address, time, hash;
	/* The same ip has the same answer at times in [from, until), under the same kernel. */
	uint64_t from, until;
	uint32_t domain, kernel;
};
void resolver_begin(struct resolver *resolver, struct machine *machine, struct space *space,
		    uint64_t ip, uint64_t time, struct lookup *ret);
struct resolved resolver_finish(struct resolver *resolver, const struct lookup *lookup);

/* There will be no more lookups: frees what only they need. Locations stay. */
void resolver_seal(struct resolver *resolver);

size_t resolver_count(const struct resolver *resolver); /* of locations so far */
const struct location *resolver_location(struct resolver *resolver, uint32_t number);
/* Where the location's function starts, to subtract from resolved.address. */
uint64_t resolver_symbol_start(struct resolver *resolver, uint32_t number);
/* The symbol's name, demangled; NULL for a location without a symbol. */
const char *resolver_symbol_name(struct resolver *resolver, uint32_t number);
/* As perf script names the dso ("/usr/lib/libc.so.6"). */
const char *resolver_dso_path(struct resolver *resolver, uint32_t number);
/* As perf report does ("libc.so.6"): a number of the session's strings. */
uint32_t resolver_dso_name(struct resolver *resolver, uint32_t number);

DEFINE_CLEANUP(cleanup_resolver, struct resolver *, resolver_destroy)
#define _cleanup_resolver_ _cleanup_(cleanup_resolver)

#endif
