/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of unknown origin (process names, a guest's symbols) made fit for terminals and
 * files. Nothing here depends on the locale.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/*
 * The length (1 to 4) of the character at the start of TEXT, and the character; 0 if the
 * LENGTH bytes do not start with one: overlong forms, surrogates and what is cut off are none.
 */
size_t utf8_decode(const char *text, size_t length, uint32_t *ret);

/*
 * A name must not be able to steer a terminal, nor to look like another one. What could, is a
 * control character (C0, DEL, C1), a character that turns the direction of text, ends a line or has
 * no width, and a byte that is no character: a terminal may take it for one of its own set.
 */
bool utf8_steers_terminal(uint32_t character);

/* Appends TEXT with each byte of what steers terminals as \xNN. */
void utf8_append_escaped(struct buffer *out, const char *text);

/*
 * Copies TEXT to RET, which has room for SIZE bytes and is terminated, as far as whole
 * characters fit; what steers terminals becomes '?'. Gives RET.
 */
const char *utf8_printable(const char *text, size_t length, char *ret, size_t size);

/* The number of characters in valid TEXT: its width, where none is wide or combining. */
size_t utf8_count(const char *text);

#endif
