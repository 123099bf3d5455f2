/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is there: these end the process with a message when the system has no
 * memory left (there is nothing useful that perfvisor could do then). They are for sizes
 * that this program chose or checked. A size that a file or a guest names must be held
 * against a maximum before it gets here.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

#include "base/cleanup.h"

/*
 * For a process that builds up much and ends soon: what is freed is not given back to the system,
 * which would have to make it anew for the next who asks.
 */
void memory_keep_freed(void);

void *memory_alloc(size_t size) __attribute__((malloc, returns_nonnull));
/* Zeroed memory for COUNT elements; the product is checked. */
void *memory_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/*
 * The same for a large table that is read here and there: in huge pages where the system has
 * them for who asks. Freed by free().
 */
void *memory_calloc_table(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/* Room for COUNT elements, the old content kept; the product is checked. */
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
void *memory_dup(const void *data, size_t size) __attribute__((malloc, returns_nonnull));
char *memory_strdup(const char *text) __attribute__((malloc, returns_nonnull));
/* At most LENGTH bytes of TEXT, always terminated. */
char *memory_strndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));
char *memory_printf(const char *format, ...) PRINTF_LIKE(1, 2)
	__attribute__((malloc, returns_nonnull));
char *memory_vprintf(const char *format, va_list arguments) PRINTF_LIKE(1, 0)
	__attribute__((malloc, returns_nonnull));

#endif
