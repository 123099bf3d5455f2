/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Radix sort, from the lowest digit up. Typical inputs: dynamic symbols come in hash order,
 * kallsyms is nearly sorted. The upper digits of addresses are all equal, so those passes only
 * count.
 */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

#define DIGIT_BITS 11 /* of a sort key: one pass's counters fit into the L1 cache */
#define DIGITS ((size_t)1 << DIGIT_BITS)

/*
 * One stable pass from FROM to TO, by the DIGIT_BITS starting at bit SHIFT. False if all keys have
 * the same digit there.
 */
static bool sort_by_digit(const struct sort_key *from, struct sort_key *to, size_t count,
			  unsigned shift)
{
	size_t places[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < count; i++)
		places[from[i].key >> shift & (DIGITS - 1)]++;
	if (places[from[0].key >> shift & (DIGITS - 1)] == count)
		return false;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t here = places[digit];

		places[digit] = at;
		at += here;
	}
	for (size_t i = 0; i < count; i++)
		to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

void sort_keys(struct sort_key *keys, size_t count)
{
	_cleanup_free_ struct sort_key *scratch = NULL;
	struct sort_key *from = keys, *to;

	if (count < 2)
		return;
	scratch = to = memory_alloc(count * sizeof(*scratch));
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (sort_by_digit(from, to, count, shift)) {
			struct sort_key *sorted = to;

			to = from;
			from = sorted;
		}
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(*keys));
}
