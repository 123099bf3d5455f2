/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking closer at what the rows of a line have in common. */
#include <stdlib.h>

#include "base/memory.h"
#include "output/view.h"
#include "view/outline_nodes.h"

#define MAX_TEXT_BYTES 65536

/* "VM web1"; the caller frees it. */
static char *describe(const struct outline *outline, const struct profile_row *row,
		      enum profile_key key)
{
	struct buffer text;
	char *description;

	buffer_init(&text, MAX_TEXT_BYTES);
	buffer_printf(&text, "%s ", view_title(outline->profile, key));
	view_append_cell(&text, outline->profile, row, key);
	description = memory_printf("%.*s", (int)text.size, (const char *)text.data);
	buffer_deinit(&text);
	return description;
}

size_t outline_zooms_of(struct outline *outline, size_t number, struct outline_zoom *ret)
{
	const struct outline_node *node = &outline->nodes.items[outline->lines.items[number]];
	const struct profile_row *row;
	struct profile_keys keys;
	size_t count = 0;

	while (node->kind == OUTLINE_CALL)
		node = &outline->nodes.items[node->parent];
	row = &outline->event->rows.items[outline->items.items[node->items]];
	outline_common_keys(outline, node->depth, &keys);
	if (profile_keys_have(&keys, PROFILE_SYMBOL)) {
		profile_keys_add(&keys, PROFILE_DSO);
		profile_keys_add(&keys, PROFILE_MODE);
	}
	for (size_t i = 0; i < keys.count; i++)
		if (keys.items[i] != PROFILE_SYMBOL && keys.items[i] != PROFILE_SOURCE)
			ret[count++] = (struct outline_zoom){
				.key = keys.items[i],
				.value = outline_lasting_value(outline, row, keys.items[i]),
				.text = describe(outline, row, keys.items[i]) };
	return count;
}

void outline_zooms_free(struct outline_zoom *zooms, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(zooms[i].text);
}

void outline_zoom_in(struct outline *outline, const struct outline_zoom *zoom)
{
	struct outline_zoom copy = *zoom;

	copy.text = memory_strdup(zoom->text);
	vector_append(&outline->zooms, copy);
	outline_restart(outline);
}

bool outline_zoom_out(struct outline *outline)
{
	if (!outline->zooms.count)
		return false;
	outline_zooms_free(&outline->zooms.items[--outline->zooms.count], 1);
	outline_restart(outline);
	return true;
}
