/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits: 65,536 systems, as many formats of each, 1 MiB for a format. */
#include "perfdata/tracing_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FILES_MAX 65536 /* of one kind */
#define FORMAT_BYTES_MAX (1024 * 1024)
#define HEAD_BYTES 512 /* of a format: the lines with its name and id */

/* A file with its size before it; NULL if it is not all there. */
static const char *read_file(struct cursor *cursor, size_t *ret_size)
{
	uint64_t size = cursor_u64(cursor);

	if (size > FORMAT_BYTES_MAX)
		cursor->failed = true;
	*ret_size = size;
	return cursor_bytes(cursor, size);
}

static const char *read_string(struct cursor *cursor)
{
	size_t left = cursor_left(cursor);
	const char *text = left ? memchr(cursor->data + cursor->offset, 0, left) : NULL;

	if (!text || cursor->failed) {
		cursor->failed = true;
		return NULL;
	}
	return cursor_bytes(cursor, text + 1 - (const char *)(cursor->data + cursor->offset));
}

static uint32_t read_count(struct cursor *cursor)
{
	uint32_t count = cursor_u32(cursor);

	return count < FILES_MAX ? count : FILES_MAX;
}

static void skip_ftrace_formats(struct cursor *cursor)
{
	uint32_t count = read_count(cursor);
	size_t size;

	for (uint32_t i = 0; i < count && !cursor->failed; i++)
		read_file(cursor, &size);
}

bool perfdata_tracing_open(const void *data, size_t size, struct perfdata_tracing *ret)
{
	static const char magic[10] = "\027\010\104tracing";
	struct cursor *cursor = &ret->cursor;
	const char *found;
	size_t skipped;

	*ret = (struct perfdata_tracing){ .cursor = cursor_make(data, size, false) };
	found = cursor_bytes(cursor, sizeof(magic));
	if (!found || memcmp(found, magic, sizeof(magic)) || !read_string(cursor))
		return false;
	ret->big_endian = cursor_u8(cursor);
	cursor->swap = ret->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	ret->long_bytes = cursor_u8(cursor) == 4 ? 4 : 8;
	ret->page_bytes = cursor_u32(cursor);
	cursor_skip(cursor, sizeof("header_page"));
	read_file(cursor, &skipped);
	cursor_skip(cursor, sizeof("header_event"));
	read_file(cursor, &skipped);
	if (cursor->failed)
		return false;
	skip_ftrace_formats(cursor);
	ret->systems = read_count(cursor);
	return !cursor->failed;
}

bool perfdata_tracing_next(struct perfdata_tracing *tracing, struct perfdata_tracing_format *ret)
{
	struct cursor *cursor = &tracing->cursor;

	while (!tracing->formats) {
		if (!tracing->systems || cursor->failed)
			return false;
		tracing->systems--;
		tracing->system = read_string(cursor);
		tracing->formats = read_count(cursor);
	}
	tracing->formats--;
	ret->system = tracing->system;
	ret->text = read_file(cursor, &ret->bytes);
	return !cursor->failed && ret->system && ret->text;
}

bool perfdata_tracing_name(const struct perfdata_tracing_format *format, char ret_name[256],
			   uint64_t *ret_id)
{
	size_t bytes = format->bytes < HEAD_BYTES ? format->bytes : HEAD_BYTES - 1;
	char head[HEAD_BYTES];

	memcpy(head, format->text, bytes);
	head[bytes] = 0;
	return sscanf(head, "name: %255s ID: %" SCNu64, ret_name, ret_id) == 2;
}
