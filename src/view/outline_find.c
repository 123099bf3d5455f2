/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searching the lines of an outline: rows by their names, other lines by their text. */
#include "view/outline_nodes.h"

#define MAX_TEXT_BYTES (1024 * 1024)

void outline_set_wanted(struct outline *outline, const char *text)
{
	row_match_set(outline->wanted, text);
}

const char *outline_wanted(const struct outline *outline)
{
	return row_match_text(outline->wanted);
}

static bool has_wanted(struct outline *outline, size_t number, struct buffer *text)
{
	const struct outline_node *node = &outline->nodes.items[outline->lines.items[number]];

	if (node->kind == OUTLINE_ROW)
		return row_match_row(outline->wanted,
				     &outline->event->rows.items[outline->items.items[node->items]],
				     &outline->levels[node->depth - 1]);
	buffer_clear(text);
	outline_append_text(outline, number, text);
	buffer_append_u8(text, 0);
	return row_match_has(outline->wanted, (const char *)text->data);
}

size_t outline_find(struct outline *outline, size_t from, bool backwards)
{
	_cleanup_buffer_ struct buffer text;
	size_t count = outline->lines.count, at = from;

	buffer_init(&text, MAX_TEXT_BYTES);
	for (size_t i = 0; i < count; i++) {
		at = backwards ? (at + count - 1) % count : (at + 1) % count;
		if (has_wanted(outline, at, &text))
			return at;
	}
	return count;
}
