/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The formats of the tracepoints in a recording (perfdata/tracing_data.h), by number. */
#ifndef TRACEPOINT_FORMATS_H
#define TRACEPOINT_FORMATS_H

#include "base/cleanup.h"
#include "tracepoint/value.h"

struct trace_formats;

/*
 * DATA is HEADER_TRACING_DATA of SIZE bytes; it is not needed afterwards. NULL: it is malformed. A
 * format that is malformed is left out; of two with the same number, the first one counts.
 */
struct trace_formats *trace_formats_create(const void *data, size_t size);
void trace_formats_destroy(struct trace_formats *formats); /* takes NULL */

/* The format with that number (perf_event_attr.config); NULL if there is none. */
const struct trace_format *trace_formats_find(const struct trace_formats *formats, uint64_t id);

/* Raw data of a sample of this recording. */
struct trace_payload trace_formats_payload(const struct trace_formats *formats, const void *raw,
					   size_t bytes);

DEFINE_CLEANUP(cleanup_trace_formats, struct trace_formats *, trace_formats_destroy)
#define _cleanup_trace_formats_ _cleanup_(cleanup_trace_formats)

#endif
