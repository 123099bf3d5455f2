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

/*
 * The length (1 to 4) of the character at the start of TEXT, and the character; 0 if the
 * LENGTH bytes do not start with one: overlong forms, surrogates and what is cut off are none.
 */
size_t utf8_decode(const char *text, size_t length, uint32_t *ret);

/*
 * Copies TEXT to RET, which has room for SIZE bytes and is terminated, as far as whole
 * characters fit. Invalid bytes, control characters and those that turn the direction of
 * text become '?': a name must not be able to steer a terminal.
 */
void utf8_printable(const char *text, size_t length, char *ret, size_t size);

/* The number of characters in valid TEXT: its width, where none is wide or combining. */
size_t utf8_count(const char *text);

#endif
