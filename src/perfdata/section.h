/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strings and parts in perfvisor's own sections (docs/perfvisor-sections.md). */
#ifndef PERFDATA_SECTION_H
#define PERFDATA_SECTION_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"

#define SECTION_MAX_STRING_BYTES 65535
#define SECTION_ALIGNMENT 8 /* of symbol tables */

/* TEXT is cut if it is too long, so that nothing is written that could not be read. */
void section_put_string(struct buffer *out, const char *text);
/* A copy of the string at the cursor; "" and `failed` if there is none. The caller frees it. */
char *section_string(struct cursor *cursor);

/* Begins a part; everything appended until section_end_part(START) belongs to it. */
size_t section_begin_part(struct buffer *out);
void section_end_part(struct buffer *out, size_t start);
/* The part at the cursor as a cursor of its own; moves CURSOR past it. */
struct cursor section_part(struct cursor *cursor);

/* What stands before a symbol table. */
struct perfdata_writer_symbols;
void section_put_symbols_head(struct buffer *out, const struct perfdata_writer_symbols *symbols);

/* Symbol tables as zstd frames (table_zstd.c). No table is larger, stored or not. */
#define TABLE_MAX_BYTES ((size_t)1 << 30)

/*
 * Appends the SIZE bytes at DATA to OUT as a frame; what they share with the BASE_SIZE bytes at
 * BASE (NULL: none) is not in it. False: nothing was appended, there is no zstd, or no memory.
 */
bool table_compress(const void *data, size_t size, const void *base, size_t base_size,
		    struct buffer *out);
/* The other way: exactly SIZE bytes into RET. */
struct error *table_decompress(const void *frame, size_t frame_size, const void *base,
			       size_t base_size, void *ret, size_t size) MUST_CHECK;

#endif
