/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes text of unknown origin (process names, a guest's symbols) safe for terminals and files.
 * Nothing here depends on the locale.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * Returns the length (1 to 4) of the character at the start of TEXT and stores the character; 0 if
 * the LENGTH bytes do not start with a valid one (overlong forms, surrogates, truncated sequences).
 */
size_t utf8_decode(const char *text, size_t length, uint32_t *ret);

/*
 * A name must not be able to control a terminal or to look like another name. These could: control
 * characters (C0, DEL, C1), characters that change the text direction, end a line, or are not
 * shown (Unicode's formats and default-ignorable code points), and invalid bytes, which a terminal
 * may interpret in its own character set.
 */
bool utf8_steers_terminal(uint32_t character);

/* Appends TEXT; writes each byte of anything that steers terminals as \xNN. */
void utf8_append_escaped(struct buffer *out, const char *text);

/*
 * Copies as many whole characters of TEXT as fit into RET, which has SIZE bytes and is terminated.
 * Anything that steers terminals becomes '?'. Returns RET.
 */
const char *utf8_printable(const char *text, size_t length, char *ret, size_t size);

/* The number of characters in valid TEXT: its width, if none of them is wide or combining. */
size_t utf8_count(const char *text);

#endif
