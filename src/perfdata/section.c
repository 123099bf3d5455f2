/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A string is a u32 length and its bytes, none of them zero. A part is a u32 size and that many
 * bytes, of which a reader uses those that it knows.
 */
#include "perfdata/section.h"

#include <string.h>

#include "base/memory.h"
#include "perfdata/writer/writer.h"

void section_put_string(struct buffer *out, const char *text)
{
	size_t length = strnlen(text, SECTION_MAX_STRING_BYTES);

	buffer_append_u32(out, length);
	buffer_append(out, text, length);
}

char *section_string(struct cursor *cursor)
{
	uint32_t length = cursor_u32(cursor);
	const char *text = NULL;

	if (length <= SECTION_MAX_STRING_BYTES)
		text = cursor_bytes(cursor, length);
	if (!text || memchr(text, 0, length)) {
		cursor->failed = true;
		return memory_strdup("");
	}
	return memory_strndup(text, length);
}

size_t section_begin_part(struct buffer *out)
{
	buffer_append_u32(out, 0);
	return out->size;
}

void section_end_part(struct buffer *out, size_t start)
{
	uint32_t size = out->size - start;

	if (!out->overflow)
		memcpy(out->data + start - sizeof(size), &size, sizeof(size));
}

struct cursor section_part(struct cursor *cursor)
{
	uint32_t size = cursor_u32(cursor);
	const void *bytes = cursor_bytes(cursor, size);
	struct cursor part = cursor_make(bytes, bytes ? size : 0, cursor->swap);

	part.failed = cursor->failed;
	return part;
}

void section_put_symbols_head(struct buffer *out, const struct perfdata_writer_symbols *symbols)
{
	size_t part = section_begin_part(out);

	buffer_append_u32(out, symbols->machine_pid);
	buffer_append_u32(out, symbols->kind);
	buffer_append_u64(out, symbols->from_ns);
	buffer_append_u64(out, symbols->until_ns);
	section_put_string(out, symbols->path ? symbols->path : "");
	buffer_append_u32(out, symbols->build_id_bytes);
	buffer_append(out, symbols->build_id, symbols->build_id_bytes);
	section_end_part(out, part);
}
