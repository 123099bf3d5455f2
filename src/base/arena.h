/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is freed all at once, for data that lives as long as a loaded session. Single
 * allocations can be neither freed nor resized.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/cleanup.h"

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* takes NULL */

/* SIZE bytes, zeroed, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((malloc, returns_nonnull));
/* LENGTH bytes of TEXT and a terminator, not aligned. */
char *arena_strndup(struct arena *arena, const char *text, size_t length)
	__attribute__((malloc, returns_nonnull));
size_t arena_bytes(const struct arena *arena); /* taken from the system so far */

DEFINE_CLEANUP(cleanup_arena, struct arena *, arena_destroy)
#define _cleanup_arena_ _cleanup_(cleanup_arena)

#endif
