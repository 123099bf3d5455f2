/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queues of any type: a vector (base/vector.h) whose first elements have already been taken.
 *
 * 	QUEUE(uint32_t) tids = { 0 };
 * 	queue_append(&tids, 17);
 * 	while (queue_take(&tids, &tid)) use(tid);
 * 	queue_deinit(&tids);
 *
 * A queue grows without bound if it is never empty when an element is appended.
 */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <stdbool.h>

#include "base/vector.h"

#define QUEUE(type)                                                                                \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count, capacity, taken;                                                     \
	}

#define queue_append(queue, ...) vector_append(queue, __VA_ARGS__)

#define queue_left(queue) ((queue)->count - (queue)->taken)

/* The first of the queue_left() elements that have not been taken. */
#define queue_first(queue) ((queue)->items + (queue)->taken)

/* Takes the first element into *RET; false if there is none. */
#define queue_take(queue, ret)                                                                     \
	__extension__({                                                                            \
		bool there_ = queue_left(queue);                                                   \
                                                                                                   \
		if (there_)                                                                        \
			*(ret) = (queue)->items[(queue)->taken++];                                 \
		if (!queue_left(queue))                                                            \
			(queue)->count = (queue)->taken = 0;                                       \
		there_;                                                                            \
	})

/* Frees the array, not what its elements own; leaves an empty queue. */
#define queue_deinit(queue)                                                                        \
	do {                                                                                       \
		vector_deinit(queue);                                                              \
		(queue)->taken = 0;                                                                \
	} while (0)

#endif
