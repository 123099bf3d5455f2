/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of tracepoints as text, by the formats in the recording. */
#ifndef OUTPUT_TRACEPOINT_H
#define OUTPUT_TRACEPOINT_H

#include "base/buffer.h"
#include "base/error.h"
#include "output/script/script_event.h"
#include "session/session.h"

struct tracepoints;

/*
 * *RET is NULL if no event in EVENTS prints its fields. Fails if one does, but the recording has no
 * formats.
 */
struct error *tracepoints_create(const struct session *session, const struct script_event *events,
				 struct tracepoints **ret) MUST_CHECK;
void tracepoints_destroy(struct tracepoints *tracepoints); /* takes NULL */

/* Appends the fields of SAMPLE; nothing if it does not belong to a known tracepoint. */
void tracepoints_append(struct tracepoints *tracepoints, const struct session_sample *sample,
			struct buffer *out);

#endif
