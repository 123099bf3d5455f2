/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the nodes of a tree by their parent and their frame, which are the first two uint32_t of
 * each. Four bytes a slot: the nodes themselves are looked at.
 */
#ifndef PROFILE_NODE_INDEX_H
#define PROFILE_NODE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/memory.h"

struct node_index {
	uint32_t *slots; /* a node's number + 1; 0: empty */
	size_t capacity; /* a power of two */
	uint64_t seed;
};

/* Of an array of nodes. */
struct node_list {
	const void *items;
	size_t stride; /* bytes from one to the next */
};

static inline void node_index_init(struct node_index *index, size_t capacity, uint64_t seed)
{
	index->capacity = capacity;
	index->seed = seed;
	index->slots = memory_calloc_table(capacity, sizeof(*index->slots));
}

static inline void node_index_deinit(struct node_index *index)
{
	free(take_pointer(index->slots));
}

static inline size_t node_index_start(const struct node_index *index, uint32_t parent,
				      uint32_t frame)
{
	return hash_u64(((uint64_t)parent << 32 | frame) ^ index->seed) & (index->capacity - 1);
}

/* The slot of the node of FRAME below PARENT; empty: there is no such node, and this is its place. */
static inline uint32_t *node_index_slot(const struct node_index *index, struct node_list nodes,
					uint32_t parent, uint32_t frame)
{
	size_t at = node_index_start(index, parent, frame);

	for (; index->slots[at]; at = (at + 1) & (index->capacity - 1)) {
		const uint32_t *node = (const void *)((const uint8_t *)nodes.items +
						      nodes.stride * (index->slots[at] - 1));

		if (node[0] == parent && node[1] == frame)
			break;
	}
	return &index->slots[at];
}

/* To be called when there are COUNT nodes: makes room for more. */
static inline void node_index_grow(struct node_index *index, struct node_list nodes, size_t count)
{
	if (2 * count <= index->capacity)
		return;
	free(index->slots);
	node_index_init(index, 2 * index->capacity, index->seed);
	for (size_t i = 0; i < count; i++) {
		const uint32_t *node =
			(const void *)((const uint8_t *)nodes.items + nodes.stride * i);

		*node_index_slot(index, nodes, node[0], node[1]) = i + 1;
	}
}

#endif
