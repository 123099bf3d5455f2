/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the numbers of things by their hash. The things themselves belong to the user, who compares
 * them:
 *
 *	for (at = number_table_first(table, hash); number_table_next(table, hash, &at, &number);)
 *		if (thing NUMBER is the one) return number;
 *	number_table_add(table, hash, number of the new thing);
 *
 * A slot has 32 bits of the hash in addition to the number, so things with another hash are hardly
 * ever compared.
 */
#ifndef PROFILE_NUMBER_TABLE_H
#define PROFILE_NUMBER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define NUMBER_TABLE_FIRST 4096 /* slots; a power of two */

struct number_table {
	uint64_t *slots; /* hash << 32 | number + 1; 0: empty */
	size_t capacity; /* a power of two, at most 2^32 */
	size_t count;
};

static inline void number_table_init(struct number_table *table)
{
	table->count = 0;
	table->capacity = NUMBER_TABLE_FIRST;
	table->slots = memory_calloc_table(table->capacity, sizeof(*table->slots));
}

static inline void number_table_deinit(struct number_table *table)
{
	free(take_pointer(table->slots));
}

static inline size_t number_table_first(const struct number_table *table, uint32_t hash)
{
	return hash & (table->capacity - 1);
}

/* The next number for HASH from slot *AT on; moves *AT past it. False: there is none. */
static inline bool number_table_next(const struct number_table *table, uint32_t hash, size_t *at,
				     uint32_t *ret)
{
	for (;;) {
		uint64_t slot = table->slots[*at];

		if (!slot)
			return false;
		*at = (*at + 1) & (table->capacity - 1);
		if (slot >> 32 == hash) {
			*ret = (uint32_t)slot - 1;
			return true;
		}
	}
}

static inline void number_table_prefetch(const struct number_table *table, uint32_t hash)
{
	__builtin_prefetch(&table->slots[number_table_first(table, hash)]);
}

static inline void number_table_put(struct number_table *table, uint64_t slot)
{
	size_t at = number_table_first(table, slot >> 32);

	while (table->slots[at])
		at = (at + 1) & (table->capacity - 1);
	table->slots[at] = slot;
}

/* NUMBER, below UINT32_MAX, must not be in TABLE yet. */
static inline void number_table_add(struct number_table *table, uint32_t hash, uint32_t number)
{
	uint64_t *old = table->slots;
	size_t old_capacity = table->capacity;

	if (4 * ++table->count > 3 * table->capacity) {
		table->capacity *= 2;
		table->slots = memory_calloc_table(table->capacity, sizeof(*table->slots));
		for (size_t i = 0; i < old_capacity; i++)
			if (old[i])
				number_table_put(table, old[i]);
		free(old);
	}
	number_table_put(table, (uint64_t)hash << 32 | (number + 1));
}

#endif
