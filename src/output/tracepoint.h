/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of tracepoints as text, by the formats in the recording. */
#ifndef OUTPUT_TRACEPOINT_H
#define OUTPUT_TRACEPOINT_H

#include "base/buffer.h"
#include "base/error.h"
#include "session/session.h"
#include "tracepoint/formats.h"

struct tracepoints;

/* Fails if the recording has no formats; HINT says what the user can do then. */
struct error *tracepoints_create(const struct session *session, const char *hint,
				 struct tracepoints **ret) MUST_CHECK;
void tracepoints_destroy(struct tracepoints *tracepoints); /* takes NULL */

/* Appends the fields of SAMPLE; nothing if it does not belong to a known tracepoint. */
void tracepoints_append(struct tracepoints *tracepoints, const struct session_sample *sample,
			struct buffer *out);
/* The same, but with the text as it is in the recording. */
void tracepoints_append_plain(struct tracepoints *tracepoints, const struct session_sample *sample,
			      struct buffer *out);

/* The format of event INDEX of the session; NULL if it is no tracepoint or has none. */
const struct trace_format *tracepoints_format(const struct tracepoints *tracepoints, size_t index);
/*
 * Appends FIELD of SAMPLE's format, as perf shows it as a sort key: the word after "NAME=" in the
 * sample's text, or else its value. A name with blanks is shown as a whole; perf shows its first
 * word, in a row for each name.
 */
void tracepoints_append_field(struct tracepoints *tracepoints, const struct session_sample *sample,
			      const struct trace_field *field, struct buffer *out);

#endif
