/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer with a maximum size. An append that would exceed the maximum adds nothing
 * and sets `overflow`, which stays set: check it once, after the last append.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
	size_t max_bytes;
	bool overflow;
};

void buffer_init(struct buffer *buffer, size_t max_bytes);
void buffer_deinit(struct buffer *buffer);

void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_append_string(struct buffer *buffer, const char *text); /* without the terminator */
void buffer_append_u8(struct buffer *buffer, uint8_t value);
/* Fixed-width integers in the byte order of this machine. */
void buffer_append_u16(struct buffer *buffer, uint16_t value);
void buffer_append_u32(struct buffer *buffer, uint32_t value);
void buffer_append_u64(struct buffer *buffer, uint64_t value);
void buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
/* Zero bytes until the size is a multiple of ALIGNMENT (a power of two). */
void buffer_pad(struct buffer *buffer, size_t alignment);
/* Reserves SIZE bytes at the end for the caller to fill; NULL if that exceeds the maximum. */
void *buffer_extend(struct buffer *buffer, size_t size);
void buffer_clear(struct buffer *buffer); /* keeps the allocation */
void buffer_trim(struct buffer *buffer); /* gives back what is allocated, but not used */

#define _cleanup_buffer_ _cleanup_(buffer_deinit)

#endif
