/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocation that cannot fail: if the system is out of memory, these functions end the process with
 * a message (perfvisor could do nothing useful then). Use them for sizes that this program chose or
 * checked. A size that a file or a guest gives must be checked against a maximum first.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

#include "base/cleanup.h"

/*
 * For a process that builds up a lot of data and ends soon: freed memory is not returned to the
 * system, which would only have to clear it again for the next allocation.
 */
void memory_keep_freed(void);

void *memory_alloc(size_t size) __attribute__((malloc, returns_nonnull));
/* Zeroed memory for COUNT elements; the product is checked. */
void *memory_calloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/*
 * The same for a large table with scattered accesses: uses huge pages where the system provides
 * them on request. Free it with free().
 */
void *memory_calloc_table(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/* Resizes to COUNT elements, keeping the old contents; the product is checked. */
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
