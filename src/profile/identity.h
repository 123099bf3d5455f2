/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which locations look the same: those have the same number. Part of profile.c and
 * calltree.c.
 */
#ifndef PROFILE_IDENTITY_H
#define PROFILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* What distinguishes locations. */
struct identity {
	uint64_t start, end; /* of the symbol; without one, the address and 0 */
	uint32_t dso, symbol; /* string numbers, 0: none; if compared by name, dso is the path */
	uint32_t source;      /* likewise, the source line */
	uint32_t zero;	      /* instead of padding */
};

struct identities;

/* Compares dso, symbol, source line, or more than one of them, depending on KEYS. */
struct identities *identities_create(struct profile *profile, const struct profile_keys *keys);
/* Compares file and function name; everything without a name in a file is the same. */
struct identities *identities_create_by_name(struct profile *profile);
/* Before the first location: all that has no name, in a file, is the same. */
void identities_merge_unnamed(struct identities *identities);
void identities_destroy(struct identities *identities); /* takes NULL */

/* The number of LOCATION, met in CPUMODE; numbers start at 1. */
uint32_t identities_find(struct identities *identities, uint32_t location, uint16_t cpumode);
struct identity identities_get(const struct identities *identities, uint32_t number);

#endif
