/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of a tracepoint in a sample's raw data. Nothing is read outside of the data, whatever
 * the format and the data claim.
 */
#ifndef TRACEPOINT_VALUE_H
#define TRACEPOINT_VALUE_H

#include "base/buffer.h"
#include "tracepoint/format.h"

/* A sample's raw data; borrowed. */
struct trace_payload {
	const uint8_t *data;
	size_t bytes;
	bool swap;	    /* its byte order is not this machine's */
	uint8_t long_bytes; /* 4 or 8: of a long and of a pointer where it was recorded */
};

/* The number of 1, 2, 4 or 8 BYTES at OFFSET, zero-extended; false: outside, or another size. */
bool trace_read_number(const struct trace_payload *payload, uint64_t offset, uint64_t bytes,
		       uint64_t *ret);

/*
 * The value of FIELD if it is one number: not an array, not dynamic. Zero-extended as in
 * libtraceevent, even if it is signed; trace_field_signed() extends it.
 */
bool trace_field_number(const struct trace_field *field, const struct trace_payload *payload,
			uint64_t *ret);
/* The same, sign-extended to 64 bits if the field is signed. */
bool trace_field_signed(const struct trace_field *field, const struct trace_payload *payload,
			int64_t *ret);

/*
 * The bytes of FIELD, of a dynamic field those that it points to; a field of size 0 has the rest of
 * the data. Those outside of the data are left out; NULL if none are in it, with *ret_bytes 0.
 */
const uint8_t *trace_field_bytes(const struct trace_field *field,
				 const struct trace_payload *payload, size_t *ret_bytes);

/* Appends the value as perf prints one without a print format; nothing if it is outside. */
void trace_field_append(const struct trace_field *field, const struct trace_payload *payload,
			struct buffer *out);
/*
 * Appends " name=value" for each field of FORMAT that is not a common one, until OUT overflows: all
 * fields may name the same bytes.
 */
void trace_fields_append(const struct trace_format *format, const struct trace_payload *payload,
			 struct buffer *out);

#endif
