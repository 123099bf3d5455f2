/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text in cells of the screen. TEXT is UTF-8 that has passed base/utf8.h; what the locale cannot
 * show becomes '?'. A character takes the cells that the terminal gives it, which may be 0 or 2.
 */
#ifndef TERMINAL_SCREEN_TEXT_H
#define TERMINAL_SCREEN_TEXT_H

#include <stddef.h>

#include "base/buffer.h"

/* How many cells TEXT takes. */
size_t screen_text_width(const struct buffer *text);
/*
 * Draws TEXT at the cursor, in WIDTH cells, without its first SKIP cells: padded, or cut off with a
 * '>' in the last cell.
 */
void screen_draw_text(const struct buffer *text, size_t skip, size_t width);
/* The same, at the right of the cells; what does not fit is left out. */
void screen_draw_right(const struct buffer *text, size_t width);
void screen_draw_spaces(size_t width);

#endif
