/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing byte buffer with a maximum; growth doubles. */
#include "base/buffer.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void buffer_init(struct buffer *buffer, size_t max_bytes)
{
	*buffer = (struct buffer){ .max_bytes = max_bytes };
}

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ .max_bytes = buffer->max_bytes };
}

void *buffer_extend(struct buffer *buffer, size_t size)
{
	size_t wanted;
	void *added;

	if (buffer->overflow || __builtin_add_overflow(buffer->size, size, &wanted) ||
	    wanted > buffer->max_bytes) {
		buffer->overflow = true;
		return NULL;
	}
	if (wanted > buffer->capacity) {
		size_t grown = buffer->capacity ? buffer->capacity : 256;

		while (grown < wanted)
			grown = grown > buffer->max_bytes / 2 ? buffer->max_bytes : 2 * grown;
		buffer->data = memory_resize(buffer->data, grown, 1);
		buffer->capacity = grown;
	}
	added = buffer->data + buffer->size;
	buffer->size = wanted;
	return added;
}

void buffer_append(struct buffer *buffer, const void *data, size_t size)
{
	void *added = size ? buffer_extend(buffer, size) : NULL;

	if (added)
		memcpy(added, data, size);
}

void buffer_append_string(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_append_u8(struct buffer *buffer, uint8_t value)
{
	buffer_append(buffer, &value, sizeof(value));
}

void buffer_append_u16(struct buffer *buffer, uint16_t value)
{
	buffer_append(buffer, &value, sizeof(value));
}

void buffer_append_u32(struct buffer *buffer, uint32_t value)
{
	buffer_append(buffer, &value, sizeof(value));
}

void buffer_append_u64(struct buffer *buffer, uint64_t value)
{
	buffer_append(buffer, &value, sizeof(value));
}

/* True if the text and its terminator fit into the free space. */
static bool print_in_place(struct buffer *buffer, const char *format, va_list arguments)
{
	size_t room = buffer->capacity - buffer->size;
	int bytes;

	if (buffer->overflow || !room)
		return false;
	bytes = vsnprintf((char *)buffer->data + buffer->size, room, format, arguments);
	if (bytes < 0 || (size_t)bytes >= room)
		return false;
	buffer->size += bytes;
	return true;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;
	bool done;

	va_start(arguments, format);
	done = print_in_place(buffer, format, arguments);
	va_end(arguments);
	if (done)
		return;
	va_start(arguments, format);
	text = memory_vprintf(format, arguments);
	va_end(arguments);
	buffer_append_string(buffer, text);
}

void buffer_pad(struct buffer *buffer, size_t alignment)
{
	size_t missing = -buffer->size & (alignment - 1);
	void *added = missing ? buffer_extend(buffer, missing) : NULL;

	if (added)
		memset(added, 0, missing);
}

void buffer_clear(struct buffer *buffer)
{
	buffer->size = 0;
	buffer->overflow = false;
}

void buffer_trim(struct buffer *buffer)
{
	if (buffer->size == buffer->capacity)
		return;
	if (!buffer->size) {
		buffer_deinit(buffer);
		return;
	}
	buffer->data = memory_resize(buffer->data, buffer->size, 1);
	buffer->capacity = buffer->size;
}
