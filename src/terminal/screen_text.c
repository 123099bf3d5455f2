/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "terminal/screen_text.h"

#include <curses.h>
#include <stdlib.h>
#include <wchar.h>

#include "base/utf8.h"

/* The first character of TEXT as the locale shows it, in *RET_CELLS cells. Returns its bytes. */
static size_t next(const char *text, size_t length, wchar_t *ret, size_t *ret_cells)
{
	uint32_t character;
	size_t bytes = utf8_decode(text, length, &character);
	char encoded[64];
	mbstate_t state = { 0 };
	int cells = bytes ? wcwidth(character) : -1;

	/* glibc's wide characters are Unicode in every locale; not all can be written in it. */
	if (cells < 0 || MB_CUR_MAX > sizeof(encoded) ||
	    wcrtomb(encoded, character, &state) == (size_t)-1) {
		character = '?';
		cells = 1;
	}
	*ret = character;
	*ret_cells = cells;
	return bytes ? bytes : 1;
}

size_t screen_text_width(const struct buffer *text)
{
	size_t width = 0, cells;
	wchar_t character;

	for (size_t at = 0; at < text->size;) {
		at += next((const char *)text->data + at, text->size - at, &character, &cells);
		width += cells;
	}
	return width;
}

void screen_draw_spaces(size_t width)
{
	while (width--)
		addch(' ');
}

void screen_draw_text(const struct buffer *text, size_t skip, size_t width)
{
	size_t all = screen_text_width(text), passed = 0, drawn = 0, cells;
	bool cut = all > skip && all - skip > width;
	size_t room = cut && width ? width - 1 : width;
	wchar_t character;

	for (size_t at = 0; at < text->size;) {
		at += next((const char *)text->data + at, text->size - at, &character, &cells);
		passed += cells;
		if (passed <= skip)
			continue;
		if (drawn + cells > room)
			break;
		addnwstr(&character, 1);
		drawn += cells;
	}
	screen_draw_spaces(room - drawn);
	if (cut && width)
		addch('>');
}

void screen_draw_right(const struct buffer *text, size_t width)
{
	size_t all = screen_text_width(text);

	if (all > width)
		return;
	screen_draw_spaces(width - all);
	screen_draw_text(text, 0, all);
}
