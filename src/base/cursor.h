/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bounds-checked byte cursor: use it to read anything foreign. A read past the end returns zero
 * (or NULL), leaves the offset alone and sets `failed`, which stays set. Read a whole structure,
 * then check `failed` once.
 *
 * With `swap`, integers are byte-swapped: the data comes from a machine of the other byte order.
 * Nothing needs to be aligned.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *data; /* borrowed */
	size_t size;
	size_t offset;
	bool swap;
	bool failed;
};

static inline struct cursor cursor_make(const void *data, size_t size, bool swap)
{
	return (struct cursor){ .data = data, .size = size, .swap = swap };
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return cursor->size - cursor->offset;
}

/* Returns the next SIZE bytes and moves past them; NULL if there are not that many left. */
static inline const void *cursor_bytes(struct cursor *cursor, size_t size)
{
	const void *bytes;

	if (cursor->failed || size > cursor_left(cursor)) {
		cursor->failed = true;
		return NULL;
	}
	bytes = cursor->data + cursor->offset;
	cursor->offset += size;
	return bytes;
}

static inline void cursor_skip(struct cursor *cursor, size_t size)
{
	(void)cursor_bytes(cursor, size);
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	const uint8_t *bytes = cursor_bytes(cursor, 1);

	return bytes ? *bytes : 0;
}

#define CURSOR_DEFINE_INTEGER(name, type, swap_function)                                           \
	static inline type name(struct cursor *cursor)                                             \
	{                                                                                          \
		const void *bytes = cursor_bytes(cursor, sizeof(type));                            \
		type value = 0;                                                                    \
                                                                                                   \
		if (bytes)                                                                         \
			memcpy(&value, bytes, sizeof(value));                                      \
		return cursor->swap ? swap_function(value) : value;                                \
	}

CURSOR_DEFINE_INTEGER(cursor_u16, uint16_t, __builtin_bswap16)
CURSOR_DEFINE_INTEGER(cursor_u32, uint32_t, __builtin_bswap32)
CURSOR_DEFINE_INTEGER(cursor_u64, uint64_t, __builtin_bswap64)
#undef CURSOR_DEFINE_INTEGER

/*
 * Returns the terminated string in the next SIZE bytes (a fixed-size field) and moves past the
 * field. Returns NULL and sets `failed` if the field is incomplete or has no terminator.
 */
static inline const char *cursor_string_field(struct cursor *cursor, size_t size)
{
	const char *text = cursor_bytes(cursor, size);

	if (text && !memchr(text, 0, size)) {
		cursor->failed = true;
		return NULL;
	}
	return text;
}

#endif
