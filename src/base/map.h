/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash map from a 64-bit key to a 64-bit value: open addressing, no removal. Keys may come from
 * foreign data: the hash mixes well and its seed differs per map, so collisions are a matter of
 * luck.
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

/*
 * Makes room for COUNT keys in total, so that the map need not grow. Call it before the first
 * insert.
 */
void map_reserve(struct map *map, size_t count);

/* The value of KEY, NULL if it is not in the map; valid until the next insert. */
uint64_t *map_find(const struct map *map, uint64_t key);
/*
 * The value of KEY, inserted as 0 if it was not in the map (*ret_added tells which; may be NULL);
 * valid until the next insert.
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

/*
 * Not seeded: the same bytes always give the same number. Whoever chooses the bytes can collide
 * them.
 */
uint64_t hash_bytes(const void *data, size_t size);
/* With a SEED that differs from run to run: for tables whose keys a guest or a file chooses. */
uint64_t hash_bytes_seeded(uint64_t seed, const void *data, size_t size);

#define _cleanup_map_ _cleanup_(map_deinit)

#endif
