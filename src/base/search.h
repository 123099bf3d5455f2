/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search, for any order. */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/*
 * Counts the leading items for which BEFORE, an expression that uses the variable INDEX, is true;
 * it must be false for all items after them. The count is also the index of the first item where it
 * is false.
 *
 * 	size_t place = SEARCH_COUNT(i, table->count, table->items[i].start <= address);
 */
#define SEARCH_COUNT(index, count, before)                                                         \
	__extension__({                                                                            \
		size_t search_low = 0, search_high = (count);                                      \
                                                                                                   \
		while (search_low < search_high) {                                                 \
			size_t index = search_low + (search_high - search_low) / 2;                \
                                                                                                   \
			if (before)                                                                \
				search_low = index + 1;                                            \
			else                                                                       \
				search_high = index;                                               \
		}                                                                                  \
		search_low;                                                                        \
	})

#endif
