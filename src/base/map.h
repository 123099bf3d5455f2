/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash map from a 64-bit key to a 64-bit value: open addressing, no removal. Keys may
 * come from foreign data: the hash is mixed well enough that bad luck stays luck, and
 * its seed differs per map.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct map_entry {
	uint64_t key;
	uint64_t value;
	bool used;
};

struct map {
	struct map_entry *entries; /* a power of two, or NULL before the first insert */
	size_t capacity;
	size_t count;
	uint64_t seed;
};

void map_init(struct map *map);
void map_deinit(struct map *map);

/* Makes room for COUNT keys in all, to be called before the first insert: it need not grow then. */
void map_reserve(struct map *map, size_t count);

/* The value of KEY, NULL if it is not there; valid until the next insert. */
uint64_t *map_find(const struct map *map, uint64_t key);
/*
 * The value of KEY, inserted as 0 if it was not there (*ret_added says which; may be
 * NULL); valid until the next insert.
 */
uint64_t *map_insert(struct map *map, uint64_t key, bool *ret_added);

/* Spreads all bits of VALUE over all bits of the result. */
static inline uint64_t hash_u64(uint64_t value)
{
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ULL;
	value ^= value >> 32;
	value *= 0xd6e8feb86659fd93ULL;
	return value ^ value >> 32;
}

/* The same number for the same bytes, always. Who chooses the bytes can have many of one number. */
uint64_t hash_bytes(const void *data, size_t size);
/* With a SEED that differs from run to run: for tables of what a guest or a file chooses. */
uint64_t hash_bytes_seeded(uint64_t seed, const void *data, size_t size);

#define _cleanup_map_ _cleanup_(map_deinit)

#endif
