/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of tracepoints, and raw data printed with them. The first byte has flags: 1, the data
 * has the other byte order; 2, longs have 4 bytes; 4, the rest is HEADER_TRACING_DATA. Otherwise a
 * format follows, up to a zero byte, and then the raw data.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "fuzz.h"
#include "tracepoint/formats.h"
#include "tracepoint/print.h"

#define TEXT_BYTES_MAX 65536

static const char *find_function(void *data, uint64_t address, uint64_t *ret_start)
{
	(void)data;
	*ret_start = address & ~0xfffull;
	return address & 1 ? "function" : NULL;
}

static void check_fields(const struct trace_format *format, const struct trace_payload *payload)
{
	assert(format->common_count <= format->field_count);
	assert(format->field_count <= TRACE_FIELDS_MAX);
	for (size_t i = 0; i < format->field_count; i++) {
		const struct trace_field *field = &format->fields[i];
		const uint8_t *bytes;
		size_t count;
		int64_t value;

		assert(*field->name && field->offset + field->bytes <= TRACE_RAW_MAX);
		trace_field_signed(field, payload, &value);
		bytes = trace_field_bytes(field, payload, &count);
		assert(!bytes == !count);
		assert(!bytes || (bytes >= payload->data &&
				  bytes + count <= payload->data + payload->bytes));
	}
}

static void print(const struct trace_format *format, const struct trace_payload *payload)
{
	static const struct trace_functions functions = { find_function, NULL };
	_cleanup_trace_print_ struct trace_print *program =
		trace_print_create(format, payload->long_bytes);
	_cleanup_buffer_ struct buffer out;

	buffer_init(&out, TEXT_BYTES_MAX);
	trace_fields_append(format, payload, &out);
	if (program)
		trace_print_append(program, payload, &functions, &out);
	assert(out.size <= TEXT_BYTES_MAX);
}

static void read_recording(const uint8_t *data, size_t size)
{
	_cleanup_trace_formats_ struct trace_formats *formats = trace_formats_create(data, size);
	const struct trace_format *format = formats ? trace_formats_find(formats, 1) : NULL;

	assert(!format || format->id == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_payload payload = { 0 };
	struct trace_format format;
	const uint8_t *end;

	if (!size)
		return 0;
	if (*data & 4) {
		read_recording(data + 1, size - 1);
		return 0;
	}
	end = memchr(data + 1, 0, size - 1);
	if (!end || !trace_format_parse((const char *)data + 1, end - data - 1, &format))
		return 0;
	/* Its end is the input's end, where ASan sees a read past it. */
	payload.data = end + 1;
	payload.bytes = data + size - payload.data;
	payload.swap = *data & 1;
	payload.long_bytes = *data & 2 ? 4 : 8;
	check_fields(&format, &payload);
	print(&format, &payload);
	trace_format_deinit(&format);
	return 0;
}
