/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash map: linear probing, at most half full. */
#include "base/map.h"

#include <string.h>

#include "base/memory.h"

#define FIRST_CAPACITY 64

void map_init(struct map *map)
{
	*map = (struct map){ .seed = hash_u64((uintptr_t)map) };
}

void map_deinit(struct map *map)
{
	free(map->entries);
	*map = (struct map){ 0 };
}

static struct map_entry *slot_of(const struct map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t at = hash_u64(key ^ map->seed) & mask;

	while (map->entries[at].used && map->entries[at].key != key)
		at = (at + 1) & mask;
	return &map->entries[at];
}

static void grow(struct map *map)
{
	struct map_entry *old = map->entries;
	size_t old_capacity = map->capacity;

	map->capacity = old_capacity ? 2 * old_capacity : FIRST_CAPACITY;
	map->entries = memory_calloc(map->capacity, sizeof(*map->entries));
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i].used)
			*slot_of(map, old[i].key) = old[i];
	free(old);
}

void map_reserve(struct map *map, size_t count)
{
	map->capacity = FIRST_CAPACITY;
	while (map->capacity / 2 < count)
		map->capacity *= 2;
	map->entries = memory_calloc(map->capacity, sizeof(*map->entries));
}

uint64_t *map_find(const struct map *map, uint64_t key)
{
	struct map_entry *entry;

	if (!map->count)
		return NULL;
	entry = slot_of(map, key);
	return entry->used ? &entry->value : NULL;
}

uint64_t *map_insert(struct map *map, uint64_t key, bool *ret_added)
{
	struct map_entry *entry;
	bool added;

	if (2 * (map->count + 1) > map->capacity)
		grow(map);
	entry = slot_of(map, key);
	added = !entry->used;
	if (added) {
		*entry = (struct map_entry){ .key = key, .used = true };
		map->count++;
	}
	if (ret_added)
		*ret_added = added;
	return &entry->value;
}

uint64_t hash_bytes(const void *data, size_t size)
{
	return hash_bytes_seeded(0, data, size);
}

uint64_t hash_bytes_seeded(uint64_t seed, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	/* differs from any short text */
	uint64_t hash = seed ^ ~(uint64_t)size * 0x9e3779b97f4a7c15ULL;
	uint64_t word;

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = hash_u64(hash ^ word);
	}
	word = 0;
	if (size) /* DATA may be NULL without */
		memcpy(&word, bytes, size);
	return hash_u64(hash ^ word);
}
