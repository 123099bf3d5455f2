/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the features of a recording say of the machine, as text. Part of recording_header.c. The
 * CURSOR is at the feature's first byte; what is malformed ends the text.
 */
#ifndef OUTPUT_HEADER_HEADER_MACHINE_H
#define OUTPUT_HEADER_HEADER_MACHINE_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "perfdata/reader.h"

/* u32 length and that many bytes, with a terminator among them; "" if it is malformed. */
const char *header_string(struct cursor *cursor);

void header_append_cpus(struct buffer *out, struct cursor *cursor,
			const struct perfdata_features *features);
void header_append_nodes(struct buffer *out, struct cursor *cursor);
void header_append_pmus(struct buffer *out, struct cursor *cursor);
void header_append_caches(struct buffer *out, struct cursor *cursor);
void header_append_memory(struct buffer *out, struct cursor *cursor);
void header_append_btf(struct buffer *out, struct cursor *cursor);
void header_append_hybrid(struct buffer *out, struct cursor *cursor);
void header_append_cpu_abilities(struct buffer *out, struct cursor *cursor);
void header_append_pmu_abilities(struct buffer *out, struct cursor *cursor);

#endif
