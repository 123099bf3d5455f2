/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of source files, as they are on this machine now. The debugging information of programs
 * names the files, so they count as hostile: only regular files that everybody may read are read,
 * of at most SOURCE_TEXT_FILE_BYTES, and all together of SOURCE_TEXT_ALL_BYTES.
 */
#ifndef ANNOTATE_SOURCE_TEXT_H
#define ANNOTATE_SOURCE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define SOURCE_TEXT_FILE_BYTES ((size_t)8 << 20)
#define SOURCE_TEXT_ALL_BYTES ((size_t)64 << 20)

struct source_texts;

struct source_texts *source_texts_create(void);
void source_texts_destroy(struct source_texts *texts); /* takes NULL */

/*
 * Line LINE, from 1 on, of the file PATH, without blanks around it; NULL: it is not known, or
 * blank. Any bytes, and not terminated; valid until TEXTS is destroyed.
 */
const char *source_texts_line(struct source_texts *texts, const char *path, uint32_t line,
			      size_t *ret_bytes);

#endif
