/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes are told apart by the texts of their cells; then they are put in the order of a walk. */
#include "output/report_hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/memory.h"
#include "output/view.h"

#define MAX_CELL_BYTES (1024 * 1024)

/* Adds ROW to the nodes of all its keys. */
static void add_row(struct hierarchy *hierarchy, struct map *places, const struct profile *profile,
		    const struct profile_row *row, const struct profile_keys *keys)
{
	_cleanup_buffer_ struct buffer text;
	uint64_t at = 0;

	buffer_init(&text, MAX_CELL_BYTES);
	hierarchy->nodes.items[0].period += row->period;
	hierarchy->nodes.items[0].count += row->count;
	for (size_t k = 0; k < keys->count; k++) {
		struct hierarchy_node node = { .parent = at, .level = k };
		uint64_t *place;

		buffer_clear(&text);
		view_append_cell(&text, profile, row, keys->items[k]);
		node.text = intern_bytes(hierarchy->texts, (const char *)text.data, text.size);
		place = map_insert(places, at << 32 | node.text, NULL);
		if (!*place) {
			*place = hierarchy->nodes.count;
			vector_append(&hierarchy->nodes, node);
		}
		at = *place;
		hierarchy->nodes.items[at].period += row->period;
		hierarchy->nodes.items[at].count += row->count;
	}
}

static int compare(const void *left, const void *right, void *data)
{
	const struct hierarchy *hierarchy = data;
	const struct hierarchy_node *a = &hierarchy->nodes.items[*(const uint32_t *)left];
	const struct hierarchy_node *b = &hierarchy->nodes.items[*(const uint32_t *)right];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	/* Leaves in the order of the rows: those know which text is a name. */
	if (a->level == hierarchy->last_level)
		return a < b ? -1 : a > b;
	return strcmp(intern_string(hierarchy->texts, a->text),
		      intern_string(hierarchy->texts, b->text));
}

/* The order of a walk; children[N] is where those of N begin in ORDER. */
static void walk(struct hierarchy *hierarchy, const uint32_t *order, const uint32_t *children)
{
	size_t count = hierarchy->nodes.count;
	struct hierarchy_node *nodes = hierarchy->nodes.items;
	struct hierarchy_node *sorted = memory_calloc(count + 1, sizeof(*sorted));
	_cleanup_free_ uint32_t *waiting = memory_calloc(count + 1, sizeof(*waiting));
	_cleanup_free_ uint32_t *places = memory_calloc(count + 1, sizeof(*places));
	size_t waits = 1, done = 0;

	while (waits) {
		uint32_t node = waiting[--waits], child = children[node];

		places[node] = done;
		sorted[done] = nodes[node];
		sorted[done++].parent = places[nodes[node].parent];
		while (child < count && (nodes[order[child]].parent == node && order[child]))
			child++;
		while (child-- > children[node])
			waiting[waits++] = order[child];
	}
	free(hierarchy->nodes.items);
	hierarchy->nodes.items = sorted;
	hierarchy->nodes.capacity = count + 1;
}

static void sort(struct hierarchy *hierarchy)
{
	size_t count = hierarchy->nodes.count;
	_cleanup_free_ uint32_t *order = memory_calloc(count + 1, sizeof(*order));
	_cleanup_free_ uint32_t *children = memory_calloc(count + 1, sizeof(*children));

	for (size_t i = 0; i + 1 < count; i++)
		order[i] = i + 1; /* the root is nobody's child */
	qsort_r(order, count - 1, sizeof(*order), compare, hierarchy);
	for (size_t i = 0; i < count; i++)
		children[i] = count;
	for (size_t i = count - 1; i-- > 0;)
		children[hierarchy->nodes.items[order[i]].parent] = i;
	walk(hierarchy, order, children);
}

void hierarchy_init(struct hierarchy *hierarchy, const struct profile *profile,
		    const struct profile_event *event, const struct profile_keys *keys)
{
	_cleanup_map_ struct map places;

	*hierarchy = (struct hierarchy){ .texts = intern_create(),
					  .last_level = keys->count - 1 };
	map_init(&places);
	vector_append(&hierarchy->nodes, (struct hierarchy_node){ .level = -1 });
	for (size_t i = 0; i < event->rows.count; i++)
		if (event->rows.items[i].count)
			add_row(hierarchy, &places, profile, &event->rows.items[i], keys);
	sort(hierarchy);
}

void hierarchy_deinit(struct hierarchy *hierarchy)
{
	vector_deinit(&hierarchy->nodes);
	intern_destroy(hierarchy->texts);
}
