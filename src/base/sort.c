/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Radix sort, from the lowest digit up. Typical inputs: dynamic symbols come in hash order,
 * kallsyms is nearly sorted. The upper digits of addresses are all equal, so those need no pass.
 */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

#define DIGIT_BITS 11 /* of a sort key: one pass's counters fit into the L1 cache */
#define DIGITS ((size_t)1 << DIGIT_BITS)

/* One stable pass from FROM to TO, by the DIGIT_BITS starting at bit SHIFT. */
static void sort_by_digit(const struct sort_key *from, struct sort_key *to, size_t count,
			  unsigned shift)
{
	size_t places[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t here = places[digit];

		places[digit] = at;
		at += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* The bits in which keys differ; 0 if the keys are sorted already. */
static uint64_t bits_to_sort(const struct sort_key *keys, size_t count)
{
	uint64_t differing = 0;
	bool sorted = true;

	for (size_t i = 1; i < count; i++) {
		differing |= keys[i].key ^ keys[0].key;
		sorted &= keys[i - 1].key <= keys[i].key;
	}
	return sorted ? 0 : differing;
}

void sort_keys(struct sort_key *keys, size_t count)
{
	_cleanup_free_ struct sort_key *scratch = NULL;
	struct sort_key *from = keys, *to;
	uint64_t bits = bits_to_sort(keys, count);

	if (!bits)
		return;
	scratch = to = memory_alloc(count * sizeof(*scratch));
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct sort_key *sorted = to;

		if (!(bits >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(from, to, count, shift);
		to = from;
		from = sorted;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(*keys));
}
