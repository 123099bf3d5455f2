/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing arrays of any type:
 *
 *	VECTOR(uint32_t) tids = { 0 };
 *	vector_append(&tids, 17);
 *	for (size_t i = 0; i < tids.count; i++) use(tids.items[i]);
 *	vector_deinit(&tids);
 *
 * A pointer into items is valid until the next append.
 */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include "base/memory.h"

#define VECTOR(type)                                                                               \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

/* Makes room for at least WANTED elements in total; capacity at least doubles. */
#define vector_reserve(vector, wanted)                                                             \
	do {                                                                                       \
		size_t wanted_ = (wanted);                                                         \
		if (wanted_ > (vector)->capacity) {                                                \
			size_t grown_ = (vector)->capacity ? 2 * (vector)->capacity : 8;           \
			if (grown_ < wanted_)                                                      \
				grown_ = wanted_;                                                  \
			(vector)->items = memory_resize((vector)->items, grown_,                   \
							sizeof(*(vector)->items));                 \
			(vector)->capacity = grown_;                                               \
		}                                                                                  \
	} while (0)

#define vector_append(vector, ...)                                                                 \
	do {                                                                                       \
		vector_reserve(vector, (vector)->count + 1);                                       \
		(vector)->items[(vector)->count++] = (__VA_ARGS__);                                \
	} while (0)

/* Frees the array, not what its elements own; leaves an empty vector. */
#define vector_deinit(vector)                                                                      \
	do {                                                                                       \
		free((vector)->items);                                                             \
		(vector)->items = NULL;                                                            \
		(vector)->count = (vector)->capacity = 0;                                          \
	} while (0)

#endif
