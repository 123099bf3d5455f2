/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strings and parts in perfvisor's own sections (docs/perfvisor-sections.md). */
#ifndef PERFDATA_SECTION_H
#define PERFDATA_SECTION_H

#include "base/buffer.h"
#include "base/cursor.h"

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

#endif
