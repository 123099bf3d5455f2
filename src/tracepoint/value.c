/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A dynamic field holds the offset of its bytes in its low 16 bits and their number in the next 16;
 * with 2 bytes it holds the offset alone (Linux before 2.6.33). How values look is libtraceevent's
 * way (print_field_raw), which perf script uses for formats that it cannot parse.
 */
#include "tracepoint/value.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/cursor.h"

bool trace_read_number(const struct trace_payload *payload, uint64_t offset, uint64_t bytes,
		       uint64_t *ret)
{
	struct cursor cursor = cursor_make(payload->data, payload->bytes, payload->swap);

	if (offset > payload->bytes)
		return false;
	cursor.offset = offset;
	switch (bytes) {
	case 1:
		*ret = cursor_u8(&cursor);
		break;
	case 2:
		*ret = cursor_u16(&cursor);
		break;
	case 4:
		*ret = cursor_u32(&cursor);
		break;
	case 8:
		*ret = cursor_u64(&cursor);
		break;
	default:
		return false;
	}
	return !cursor.failed;
}

bool trace_field_number(const struct trace_field *field, const struct trace_payload *payload,
			uint64_t *ret)
{
	return !(field->flags & (TRACE_FIELD_ARRAY | TRACE_FIELD_DYNAMIC)) &&
	       trace_read_number(payload, field->offset, field->bytes, ret);
}

static int64_t sign_extend(uint64_t value, uint32_t bytes)
{
	unsigned int unused = 64 - 8 * bytes;

	return (int64_t)(value << unused) >> unused;
}

bool trace_field_signed(const struct trace_field *field, const struct trace_payload *payload,
			int64_t *ret)
{
	uint64_t value;

	if (!trace_field_number(field, payload, &value))
		return false;
	*ret = field->flags & TRACE_FIELD_SIGNED ? sign_extend(value, field->bytes)
						 : (int64_t)value;
	return true;
}

const uint8_t *trace_field_bytes(const struct trace_field *field,
				 const struct trace_payload *payload, size_t *ret_bytes)
{
	uint64_t offset = field->offset, bytes = field->bytes, where;

	*ret_bytes = 0;
	if (field->flags & TRACE_FIELD_DYNAMIC) {
		if (!trace_read_number(payload, offset, bytes, &where))
			return NULL;
		bytes = field->bytes == 2 ? TRACE_RAW_MAX : where >> 16 & 0xffff;
		offset = (where & 0xffff) +
			 (field->flags & TRACE_FIELD_RELATIVE ? offset + field->bytes : 0);
	} else if (!bytes) {
		bytes = TRACE_RAW_MAX;
	}
	if (offset >= payload->bytes || !bytes)
		return NULL;
	*ret_bytes = bytes < payload->bytes - offset ? bytes : payload->bytes - offset;
	return payload->data + offset;
}

static bool is_printable(const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count && bytes[i]; i++)
		if (!isprint(bytes[i]) && !isspace(bytes[i]))
			return false;
	return true;
}

static void append_array(const struct trace_field *field, const struct trace_payload *payload,
			 struct buffer *out)
{
	size_t count;
	const uint8_t *bytes = trace_field_bytes(field, payload, &count);

	if ((field->flags & TRACE_FIELD_STRING) && is_printable(bytes, count)) {
		buffer_append(out, bytes, bytes ? strnlen((const char *)bytes, count) : 0);
		return;
	}
	buffer_append_string(out, "ARRAY[");
	for (size_t i = 0; i < count && !out->overflow; i++)
		buffer_printf(out, "%s%02x", i ? ", " : "", bytes[i]);
	buffer_append_u8(out, ']');
}

static void append_signed(const struct trace_field *field, uint64_t value, struct buffer *out)
{
	switch (field->bytes) {
	case 1:
		buffer_printf(out, "%1d", (int8_t)value);
		break;
	case 2:
		buffer_printf(out, "%2d", (int16_t)value);
		break;
	case 4:
		/* A long usually holds a pointer. */
		buffer_printf(out, field->flags & TRACE_FIELD_LONG ? "0x%x" : "%d", (int32_t)value);
		break;
	default:
		buffer_printf(out, "%" PRId64, (int64_t)value);
	}
}

void trace_field_append(const struct trace_field *field, const struct trace_payload *payload,
			struct buffer *out)
{
	uint64_t value;

	if (field->flags & TRACE_FIELD_ARRAY) {
		append_array(field, payload, out);
		return;
	}
	if (!trace_read_number(payload, field->offset, field->bytes, &value)) {
		/* A structure: perf prints 0 for it. */
		if (field->offset + field->bytes > payload->bytes)
			return;
		value = 0;
	}
	if (field->flags & TRACE_FIELD_POINTER)
		buffer_printf(out, "0x%" PRIx64, value);
	else if (field->flags & TRACE_FIELD_SIGNED)
		append_signed(field, value, out);
	else if (field->flags & TRACE_FIELD_LONG)
		buffer_printf(out, "0x%" PRIx64, value);
	else
		buffer_printf(out, "%" PRIu64, value);
}

void trace_fields_append(const struct trace_format *format, const struct trace_payload *payload,
			 struct buffer *out)
{
	for (size_t i = format->common_count; i < format->field_count && !out->overflow; i++) {
		buffer_printf(out, " %s=", format->fields[i].name);
		trace_field_append(&format->fields[i], payload, out);
	}
}
