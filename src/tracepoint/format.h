/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a tracepoint, as tracefs and recordings give it: events/SYSTEM/NAME/format, written
 * by kernel/trace/trace_events.c (f_show). Formats in recordings are foreign data.
 *
 * Limits: TRACE_FORMAT_BYTES_MAX for the text, TRACE_FIELDS_MAX fields, TRACE_RAW_MAX for the end
 * of a field, because the raw data of a sample is no longer than that.
 */
#ifndef TRACEPOINT_FORMAT_H
#define TRACEPOINT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_FORMAT_BYTES_MAX ((size_t)1 << 20)
#define TRACE_FIELDS_MAX 4096
#define TRACE_RAW_MAX 65536 /* a record's size is 16 bits */

enum trace_field_flags {
	TRACE_FIELD_SIGNED = 1,
	TRACE_FIELD_ARRAY = 2,
	TRACE_FIELD_STRING = 4, /* an array of characters, or of bytes */
	TRACE_FIELD_POINTER = 8,
	TRACE_FIELD_LONG = 16,	   /* the type has "long" in its name */
	TRACE_FIELD_DYNAMIC = 32,  /* __data_loc, __rel_loc: the field says where its bytes are */
	TRACE_FIELD_RELATIVE = 64, /* __rel_loc: from the end of the field on */
};

struct trace_field {
	const char *name;
	uint32_t offset, bytes; /* in the raw data; their sum is at most TRACE_RAW_MAX */
	uint32_t element_bytes; /* of an array; 0 if the format does not show it */
	uint32_t flags;		/* enum trace_field_flags */
};

struct trace_format {
	const char *name; /* "sched_switch" */
	uint64_t id;	  /* perf_event_attr.config */
	struct trace_field *fields; /* in the order of the format, the common ones first */
	size_t field_count, common_count;
	const char *print; /* what follows "print fmt:"; "" if nothing does */
	char *text;	   /* where names and print are */
};

/*
 * Parses TEXT, which need not be terminated and is copied. Returns false if it is malformed or
 * exceeds a limit; *RET is empty then. Frees nothing in *RET before.
 */
bool trace_format_parse(const char *text, size_t bytes, struct trace_format *ret);
void trace_format_deinit(struct trace_format *format);

/* The first field of that name, the common ones included; NULL if there is none. */
const struct trace_field *trace_format_find(const struct trace_format *format, const char *name,
					    size_t length);

#endif
