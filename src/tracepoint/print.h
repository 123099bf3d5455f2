/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints raw data of tracepoints by their format's "print fmt", a printf format and C expressions
 * as its arguments, the way perf script does. The format and the data are foreign. Therefore:
 *
 * - It is a subset of what kernels use: numbers, REC->field, array elements, C's operators without
 *   assignments, casts of numbers, sizeof, __print_flags(), __print_symbolic(), __print_hex(),
 *   __print_hex_str(), __print_array(), __get_str(), __get_bitmask(), __get_cpumask(),
 *   __get_dynamic_array(), __get_dynamic_array_len(). A format with anything else is not compiled.
 * - There are no pointers: an expression is a number, or names bytes of one field, and a field is
 *   read with checks each time (tracepoint/value.h).
 * - The sizes and the depth of what is compiled are limited (print_program.h); what is printed is
 *   limited by the buffer.
 *
 * Numbers are 64 bits and unsigned, and fields are not sign-extended before they are compared or
 * shifted, as in libtraceevent. A division by 0 gives 0.
 */
#ifndef TRACEPOINT_PRINT_H
#define TRACEPOINT_PRINT_H

#include "base/cleanup.h"
#include "tracepoint/value.h"

struct trace_print;

/* Names of kernel functions, for %ps and %pS. */
struct trace_functions {
	/* The function at ADDRESS and its start; NULL: unknown. */
	const char *(*find)(void *data, uint64_t address, uint64_t *ret_start);
	void *data;
};

/* NULL: the print format is not supported. FORMAT must outlive what is returned. */
struct trace_print *trace_print_create(const struct trace_format *format, uint8_t long_bytes);
void trace_print_destroy(struct trace_print *print); /* takes NULL */

/*
 * Stops when OUT overflows. FUNCTIONS may be NULL. The text is not fit for terminals: see
 * base/utf8.h.
 */
void trace_print_append(const struct trace_print *print, const struct trace_payload *payload,
			const struct trace_functions *functions, struct buffer *out);

DEFINE_CLEANUP(cleanup_trace_print, struct trace_print *, trace_print_destroy)
#define _cleanup_trace_print_ _cleanup_(cleanup_trace_print)

#endif
