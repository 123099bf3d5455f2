/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups in an address space over time. A few mappings are searched linearly, newest first. Many
 * mappings have a segment tree over the addresses: the sorted starts and ends of all mappings
 * divide the addresses into elementary intervals, which are the leaves; a mapping is listed, in
 * order of time, in the O(log n) nodes that together cover it. The newest mapping at a given time
 * is found on the path from the root to one leaf, with a binary search in each node's list. So no
 * file can make a lookup slow: O(log² n), however its mappings overlap.
 *
 * Limits: a mapping only ends when another one covers it; 64 generations of forks.
 */
#include "session/space.h"

#include "base/search.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINEAR_MAX 16
#define GENERATIONS_MAX 64

struct space_node {
	VECTOR(uint32_t) mappings; /* indices in the space, in order of time */
};

struct space_index {
	size_t mapping_count; /* the first mappings of the space; later ones were added since */
	uint64_t *edges; /* sorted, unique */
	size_t edge_count;
	size_t leaf_count;	  /* a power of two, at least edge_count - 1 */
	struct space_node *nodes; /* 2 * leaf_count; the root is 1, a node's children 2n, 2n + 1 */
};

void space_init(struct space *space, uint32_t number)
{
	*space = (struct space){ .number = number };
}

static void index_destroy(struct space_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < 2 * index->leaf_count; i++)
		vector_deinit(&index->nodes[i].mappings);
	free(index->nodes);
	free(index->edges);
	free(index);
}

void space_deinit(struct space *space)
{
	vector_deinit(&space->mappings);
	index_destroy(space->index);
	space->index = NULL;
}

void space_add(struct space *space, const struct space_mapping *mapping)
{
	vector_append(&space->mappings, *mapping);
}

void space_fork(struct space *space, struct space *parent, uint64_t time)
{
	/* A shell's subshells fork without mapping anything: keep the path to the top short. */
	while (parent && parent->parent &&
	       (!parent->mappings.count || parent->mappings.items[0].from > time)) {
		time = time < parent->forked_at ? time : parent->forked_at;
		parent = parent->parent;
	}
	space->parent = parent;
	space->forked_at = time;
}

static int compare_edges(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void index_collect_edges(struct space_index *index, const struct space *space)
{
	size_t count = 0;

	index->edges = memory_calloc(2 * space->mappings.count, sizeof(*index->edges));
	for (size_t i = 0; i < space->mappings.count; i++) {
		index->edges[2 * i] = space->mappings.items[i].start;
		index->edges[2 * i + 1] = space->mappings.items[i].end;
	}
	qsort(index->edges, 2 * space->mappings.count, sizeof(*index->edges), compare_edges);
	for (size_t i = 0; i < 2 * space->mappings.count; i++)
		if (!count || index->edges[count - 1] != index->edges[i])
			index->edges[count++] = index->edges[i];
	index->edge_count = count;
}

/* The last edge not above ADDRESS; edge_count if there is none. */
static size_t index_piece(const struct space_index *index, uint64_t address)
{
	size_t place = SEARCH_COUNT(i, index->edge_count, index->edges[i] <= address);

	return place ? place - 1 : index->edge_count;
}

static void index_list(struct space_index *index, uint32_t number,
		       const struct space_mapping *mapping)
{
	size_t low = index_piece(index, mapping->start) + index->leaf_count;
	size_t high = index_piece(index, mapping->end) + index->leaf_count;

	for (; low < high; low /= 2, high /= 2) {
		if (low & 1) {
			vector_append(&index->nodes[low].mappings, number);
			low++;
		}
		if (high & 1) {
			high--;
			vector_append(&index->nodes[high].mappings, number);
		}
	}
}

static struct space_index *index_create(const struct space *space)
{
	struct space_index *index = memory_calloc(1, sizeof(*index));

	index->mapping_count = space->mappings.count;
	index_collect_edges(index, space);
	/* One more leaf than intervals: the end of the last mapping is a position, too. */
	for (index->leaf_count = 1; index->leaf_count < index->edge_count; index->leaf_count *= 2)
		;
	index->nodes = memory_calloc(2 * index->leaf_count, sizeof(*index->nodes));
	for (size_t i = 0; i < space->mappings.count; i++)
		index_list(index, i, &space->mappings.items[i]);
	return index;
}

/* So many mappings were added to a space that is read live that another index is worth it. */
static bool is_outgrown(const struct space_index *index, const struct space *space)
{
	return space->mappings.count - index->mapping_count >
	       LINEAR_MAX + index->mapping_count / LINEAR_MAX;
}

/*
 * Built by the first thread that needs it; several may be looking up addresses, but not while
 * mappings are added.
 */
static const struct space_index *index_of(struct space *space)
{
	static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER;
	struct space_index *index = __atomic_load_n(&space->index, __ATOMIC_ACQUIRE);

	if (index && !is_outgrown(index, space))
		return index;
	pthread_mutex_lock(&building);
	if (space->index && is_outgrown(space->index, space)) {
		index_destroy(space->index);
		space->index = NULL;
	}
	if (!space->index)
		__atomic_store_n(&space->index, index_create(space), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&building);
	return space->index;
}

/* Adds MAPPING, which covers the address, to RET: the newest at TIME, and until when that holds. */
static void consider(struct space_lookup *ret, const struct space_mapping *mapping, uint64_t time)
{
	if (mapping->from > time) {
		if (mapping->from < ret->until)
			ret->until = mapping->from;
	} else if (!ret->mapping || mapping >= ret->mapping) {
		ret->mapping = mapping;
		ret->from = mapping->from;
	}
}

/* The newest mapping of NODE at TIME, and the first one after TIME. */
static void consider_node(struct space_lookup *ret, const struct space *space,
			  const struct space_node *node, uint64_t time)
{
	const uint32_t *numbers = node->mappings.items;
	const struct space_mapping *mappings = space->mappings.items;
	size_t place = SEARCH_COUNT(i, node->mappings.count, mappings[numbers[i]].from <= time);

	if (place > 0)
		consider(ret, &mappings[numbers[place - 1]], time);
	if (place < node->mappings.count)
		consider(ret, &mappings[numbers[place]], time);
}

/* The mappings from FIRST on, one by one. */
static void consider_rest(struct space_lookup *ret, const struct space *space, size_t first,
			  uint64_t address, uint64_t time)
{
	for (size_t i = first; i < space->mappings.count; i++) {
		const struct space_mapping *mapping = &space->mappings.items[i];

		if (mapping->start <= address && address < mapping->end)
			consider(ret, mapping, time);
	}
}

static struct space_lookup find_own(struct space *space, uint64_t address, uint64_t time)
{
	struct space_lookup found = { .until = SPACE_FOREVER };
	const struct space_index *index = NULL;
	size_t piece;

	if (space->mappings.count > LINEAR_MAX)
		index = index_of(space);
	consider_rest(&found, space, index ? index->mapping_count : 0, address, time);
	if (!index)
		return found;
	piece = index_piece(index, address);
	if (piece == index->edge_count)
		return found;
	for (size_t node = piece + index->leaf_count; node; node /= 2)
		consider_node(&found, space, &index->nodes[node], time);
	return found;
}

struct space_lookup space_find(struct space *space, uint64_t address, uint64_t time)
{
	struct space_lookup found = find_own(space, address, time);

	for (int i = 0; !found.mapping && space->parent && i < GENERATIONS_MAX; i++) {
		struct space_lookup older;

		time = time < space->forked_at ? time : space->forked_at;
		space = space->parent;
		older = find_own(space, address, time);
		/* From here on, it is the parent's mapping at the fork, which does not change. */
		found.mapping = older.mapping;
	}
	return found;
}
