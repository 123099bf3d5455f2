/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranks come from sorting by two elements at a time, since most sequences differ in the first ones.
 * The others are sorted by the next two, or, if they are few, by comparing the rest.
 */
#include "profile/sequences.h"

#include <string.h>

#include "base/map.h"
#include "base/sort.h"

#define FEW 64 /* up to this many, comparing is faster */

void sequences_init(struct sequences *sequences, uint64_t seed)
{
	*sequences = (struct sequences){ .seed = seed };
	number_table_init(&sequences->table);
	vector_reserve(&sequences->elements, 1); /* so that the empty one has an address, too */
	sequences_intern(sequences, &(uint32_t){ 0 }, 0);
}

void sequences_seal(struct sequences *sequences)
{
	number_table_deinit(&sequences->table);
}

void sequences_deinit(struct sequences *sequences)
{
	sequences_seal(sequences);
	vector_deinit(&sequences->items);
	vector_deinit(&sequences->elements);
}

uint32_t sequences_intern(struct sequences *sequences, const uint32_t *elements, uint32_t count)
{
	size_t bytes = count * sizeof(*elements);
	uint32_t hash = hash_bytes_seeded(sequences->seed, elements, bytes), number;

	for (size_t at = number_table_first(&sequences->table, hash);
	     number_table_next(&sequences->table, hash, &at, &number);)
		if (sequences_length(sequences, number) == count &&
		    !memcmp(sequences_elements(sequences, number), elements, bytes))
			return number;
	number = sequences->items.count;
	vector_append(&sequences->items,
		      (struct sequence){ .start = sequences->elements.count, .count = count });
	vector_reserve(&sequences->elements, sequences->elements.count + count);
	memcpy(sequences->elements.items + sequences->elements.count, elements, bytes);
	sequences->elements.count += count;
	number_table_add(&sequences->table, hash, number);
	return number;
}

/* Elements DEPTH and DEPTH + 1 as one number; smaller if they do not exist. */
static uint64_t key_at(const struct sequences *sequences, uint32_t number, uint32_t depth)
{
	const uint32_t *elements = sequences_elements(sequences, number);
	uint32_t count = sequences_length(sequences, number);
	uint64_t high = depth < count ? (uint64_t)elements[depth] + 1 : 0;

	return high << 32 | (depth + 1 < count ? elements[depth + 1] + 1 : 0);
}

/* Whether LEFT comes before RIGHT; they are equal before DEPTH. */
static bool is_before(const struct sequences *sequences, uint32_t left, uint32_t right,
		      uint32_t depth)
{
	uint64_t a, b;

	do {
		a = key_at(sequences, left, depth);
		b = key_at(sequences, right, depth);
		depth += 2;
	} while (a == b && (uint32_t)a);
	return a < b;
}

static void sort_few(const struct sequences *sequences, struct sort_key *keys, size_t count,
		     uint32_t depth)
{
	for (size_t i = 1; i < count; i++) {
		struct sort_key key = keys[i];
		size_t at = i;

		for (; at && is_before(sequences, key.index, keys[at - 1].index, depth); at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

/* Sorts sequences that are equal before DEPTH. Recurses at most once for two elements. */
static void sort_from(const struct sequences *sequences, struct sort_key *keys, size_t count,
		      uint32_t depth)
{
	size_t next;

	if (count <= FEW) {
		sort_few(sequences, keys, count, depth);
		return;
	}
	for (size_t i = 0; i < count; i++)
		keys[i].key = key_at(sequences, keys[i].index, depth);
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i = next) {
		for (next = i + 1; next < count && keys[next].key == keys[i].key;)
			next++;
		if (next - i > 1)
			sort_from(sequences, &keys[i], next - i, depth + 2);
	}
}

uint32_t *sequences_rank(const struct sequences *sequences)
{
	size_t count = sequences->items.count;
	struct sort_key *keys = memory_alloc(count * sizeof(*keys));
	uint32_t *ranks = memory_alloc(count * sizeof(*ranks));

	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){ .index = i };
	sort_from(sequences, keys, count, 0);
	for (size_t i = 0; i < count; i++)
		ranks[keys[i].index] = i;
	free(keys);
	return ranks;
}
