/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which locations read the same: equal ones have equal numbers. Part of profile.c and
 * calltree.c.
 */
#ifndef PROFILE_IDENTITY_H
#define PROFILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* What tells locations apart. */
struct identity {
	uint64_t start, end; /* of the symbol; the address, 0 without one */
	uint32_t dso, symbol; /* string numbers, 0: none; by name dso is the path */
};

struct identities;

/* By the dso, the symbol, or both, as far as they are in KEYS. */
struct identities *identities_create(struct profile *profile, const struct profile_keys *keys);
/* By the file and the function's name: what has none in a file is one. */
struct identities *identities_create_by_name(struct profile *profile);
void identities_destroy(struct identities *identities); /* takes NULL */

/* The number of what LOCATION, met in CPUMODE, is; from 1 on. */
uint32_t identities_find(struct identities *identities, uint32_t location, uint16_t cpumode);
struct identity identities_get(const struct identities *identities, uint32_t number);

#endif
