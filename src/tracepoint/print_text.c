/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What %s prints. Width and precision hold for each name that __print_flags() prints, and not for
 * numbers without a name, as in libtraceevent.
 */
#include <inttypes.h>
#include <string.h>

#include "tracepoint/print_program.h"

struct layout {
	bool left;
	int width, precision; /* precision -1: none */
};

/* BYTES of TEXT, or fewer if there is a terminator. */
static void append_padded(struct buffer *out, const struct layout *layout, const void *text,
			  size_t bytes)
{
	size_t length = text ? strnlen(text, bytes) : 0;

	if (layout->precision >= 0 && length > (size_t)layout->precision)
		length = layout->precision;
	if (!layout->left && (size_t)layout->width > length)
		buffer_printf(out, "%*s", (int)(layout->width - length), "");
	buffer_append(out, text, length);
	if (layout->left && (size_t)layout->width > length)
		buffer_printf(out, "%*s", (int)(layout->width - length), "");
}

static void append_terminated(struct buffer *out, const struct layout *layout, const char *text)
{
	append_padded(out, layout, text, strlen(text));
}

static void append_field(const struct trace_output *output, const struct layout *layout,
			 const struct trace_node *node)
{
	const struct trace_field *field = node->field;
	const uint8_t *bytes;
	uint64_t address;
	size_t count;

	/* What is as long as a pointer is one. */
	if (!(field->flags & TRACE_FIELD_ARRAY) && field->bytes == output->print->long_bytes) {
		if (trace_read_number(output->payload, field->offset, field->bytes, &address))
			buffer_printf(output->out, "%" PRIx64, address);
		return;
	}
	bytes = trace_node_bytes(output, node, &count);
	append_padded(output->out, layout, bytes, count);
}

static void append_flags(const struct trace_output *output, const struct layout *layout,
			 const struct trace_node *node)
{
	uint64_t left = trace_evaluate(output, node->operands[0]);
	const char *delimiter = "";

	for (uint32_t i = 0; i < node->name_count; i++) {
		const struct trace_name *name =
			&output->print->names.items[node->first_name + i];

		if (!name->value || (left & name->value) != name->value)
			continue;
		buffer_append_string(output->out, delimiter);
		append_terminated(output->out, layout, name->text);
		delimiter = node->text;
		left &= ~name->value;
	}
	if (left)
		buffer_printf(output->out, "%s0x%" PRIx64, delimiter, left);
}

static void append_symbol(const struct trace_output *output, const struct layout *layout,
			  const struct trace_node *node)
{
	uint64_t value = trace_evaluate(output, node->operands[0]);

	for (uint32_t i = 0; i < node->name_count; i++) {
		const struct trace_name *name =
			&output->print->names.items[node->first_name + i];

		if (name->value == value) {
			append_terminated(output->out, layout, name->text);
			return;
		}
	}
	buffer_printf(output->out, "0x%" PRIx64, value);
}

static void append_hex(const struct trace_output *output, const struct trace_node *node)
{
	const char *delimiter = node->kind == TRACE_HEX ? " " : "";
	uint64_t count = trace_evaluate(output, node->operands[1]);
	const struct trace_node *array = trace_uncast(output->print, node->operands[0]);
	size_t bytes;
	const uint8_t *data = trace_node_bytes(output, array, &bytes);

	for (size_t i = 0; i < bytes && i < count; i++)
		buffer_printf(output->out, "%s%02x", i ? delimiter : "", data[i]);
}

static void append_array(const struct trace_output *output, const struct trace_node *node)
{
	uint64_t count = trace_evaluate(output, node->operands[1]);
	uint64_t each = trace_evaluate(output, node->operands[2]);
	const struct trace_node *array = trace_uncast(output->print, node->operands[0]);
	struct trace_payload part = *output->payload;
	uint64_t value;

	part.data = trace_node_bytes(output, array, &part.bytes);
	buffer_append_u8(output->out, '{');
	for (uint64_t i = 0; i < count && i < part.bytes; i++) {
		if (!trace_read_number(&part, i * each, each, &value))
			break;
		buffer_printf(output->out, "%s0x%" PRIx64, i ? "," : "", value);
	}
	buffer_append_u8(output->out, '}');
}

/* Byte INDEX of a mask, counted from its lowest bits. */
static uint8_t mask_byte(const struct trace_output *output, const uint8_t *data, size_t bytes,
			 size_t index)
{
	bool big = output->payload->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	return data[big ? bytes - 1 - index : index];
}

/* "00000000,0000000f" */
static void append_bitmask(const struct trace_output *output, const struct layout *layout,
			   const struct trace_node *node)
{
	_cleanup_buffer_ struct buffer text;
	size_t bytes;
	const uint8_t *data = trace_node_bytes(output, node, &bytes);

	buffer_init(&text, 4 * TRACE_RAW_MAX);
	for (size_t i = bytes; i-- > 0;)
		buffer_printf(&text, "%02x%s", mask_byte(output, data, bytes, i),
			      i && i % 4 == 0 ? "," : "");
	append_padded(output->out, layout, text.data, text.size);
}

static bool has_bit(const struct trace_output *output, const uint8_t *data, size_t bytes,
		    size_t bit)
{
	return bit / 8 < bytes && mask_byte(output, data, bytes, bit / 8) >> bit % 8 & 1;
}

/* "0-3,7" */
static void append_cpumask(const struct trace_output *output, const struct layout *layout,
			   const struct trace_node *node)
{
	_cleanup_buffer_ struct buffer text;
	size_t bytes;
	const uint8_t *data = trace_node_bytes(output, node, &bytes);

	buffer_init(&text, 64 * TRACE_RAW_MAX);
	for (size_t bit = 0; bit < 8 * bytes; bit++) {
		size_t first = bit;

		if (!has_bit(output, data, bytes, bit))
			continue;
		while (has_bit(output, data, bytes, bit + 1))
			bit++;
		buffer_printf(&text, "%s%zu", text.size ? "," : "", first);
		if (bit > first)
			buffer_printf(&text, "-%zu", bit);
	}
	append_padded(output->out, layout, text.data, text.size);
}

static void append_node(const struct trace_output *output, const struct layout *layout,
			uint32_t index)
{
	const struct trace_node *node = &output->print->nodes.items[index];
	const uint8_t *bytes;
	size_t count;

	switch ((enum trace_node_kind)node->kind) {
	case TRACE_TEXT:
		append_terminated(output->out, layout, node->text);
		break;
	case TRACE_FIELD:
		append_field(output, layout, node);
		break;
	case TRACE_STRING:
		bytes = trace_node_bytes(output, node, &count);
		append_padded(output->out, layout, bytes, count);
		break;
	case TRACE_BITMASK:
		append_bitmask(output, layout, node);
		break;
	case TRACE_CPUMASK:
		append_cpumask(output, layout, node);
		break;
	case TRACE_FLAGS:
		append_flags(output, layout, node);
		break;
	case TRACE_SYMBOL:
		append_symbol(output, layout, node);
		break;
	case TRACE_HEX:
	case TRACE_HEX_STR:
		append_hex(output, node);
		break;
	case TRACE_ARRAY:
		append_array(output, node);
		break;
	case TRACE_CHOICE:
		append_node(output, layout,
			    node->operands[trace_evaluate(output, node->operands[0]) ? 1 : 2]);
		break;
	default:
		break; /* a number */
	}
}

void trace_append_text(const struct trace_output *output, const struct trace_piece *piece,
		       int width, int precision, uint32_t node)
{
	struct layout layout = { piece->left, width, precision };

	append_node(output, &layout, node);
}
