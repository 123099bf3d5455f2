/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of expressions: 64 bits, unsigned. */
#include "tracepoint/print_program.h"

uint64_t trace_apply(enum trace_operator operator, uint64_t left, uint64_t right)
{
	switch (operator) {
	case TRACE_OR:
		return left || right;
	case TRACE_AND:
		return left && right;
	case TRACE_BIT_OR:
		return left | right;
	case TRACE_BIT_XOR:
		return left ^ right;
	case TRACE_BIT_AND:
		return left & right;
	case TRACE_EQUAL:
		return left == right;
	case TRACE_UNEQUAL:
		return left != right;
	case TRACE_LESS:
		return left < right;
	case TRACE_GREATER:
		return left > right;
	case TRACE_AT_MOST:
		return left <= right;
	case TRACE_AT_LEAST:
		return left >= right;
	case TRACE_SHIFT_LEFT:
		return left << (right & 63);
	case TRACE_SHIFT_RIGHT:
		return left >> (right & 63);
	case TRACE_ADD:
		return left + right;
	case TRACE_SUBTRACT:
		return left - right;
	case TRACE_MULTIPLY:
		return left * right;
	case TRACE_DIVIDE:
		return right ? left / right : 0;
	case TRACE_REMAINDER:
		return right ? left % right : 0;
	case TRACE_NOT:
		return !right;
	case TRACE_COMPLEMENT:
		return ~right;
	case TRACE_NEGATE:
		return -right;
	}
	return 0;
}

const struct trace_node *trace_uncast(const struct trace_print *print, uint32_t node)
{
	while (print->nodes.items[node].kind == TRACE_CAST)
		node = print->nodes.items[node].operands[0];
	return &print->nodes.items[node];
}

const uint8_t *trace_node_bytes(const struct trace_output *output, const struct trace_node *node,
				size_t *ret_bytes)
{
	const struct trace_payload *payload = output->payload;
	const struct trace_field *field = node->field;

	if (node->kind != TRACE_FIELD)
		return trace_field_bytes(field, payload, ret_bytes);
	/* REC->field is the field itself, even if it says where other bytes are. */
	*ret_bytes = 0;
	if (field->offset >= payload->bytes)
		return NULL;
	*ret_bytes = payload->bytes - field->offset;
	if (field->bytes && field->bytes < *ret_bytes)
		*ret_bytes = field->bytes;
	return payload->data + field->offset;
}

static uint64_t read_element(const struct trace_output *output, const struct trace_node *node)
{
	const struct trace_node *array = trace_uncast(output->print, node->operands[0]);
	uint64_t index = trace_evaluate(output, node->operands[1]), value;
	uint64_t each = array->field->element_bytes;
	size_t bytes;
	const uint8_t *data = trace_node_bytes(output, array, &bytes);
	struct trace_payload part = *output->payload;

	if (!each)
		each = output->print->long_bytes;
	part.data = data;
	part.bytes = bytes;
	if (!data || index > bytes || !trace_read_number(&part, index * each, each, &value))
		return 0;
	/* A cast to a pointer is to one of its elements. */
	return value;
}

static uint64_t array_bytes(const struct trace_output *output, const struct trace_node *node)
{
	size_t bytes;

	trace_node_bytes(output, node, &bytes);
	return bytes;
}

uint64_t trace_evaluate(const struct trace_output *output, uint32_t index)
{
	const struct trace_node *node = &output->print->nodes.items[index];
	const uint32_t *operands = node->operands;
	uint64_t value;

	switch ((enum trace_node_kind)node->kind) {
	case TRACE_NUMBER:
		return node->number;
	case TRACE_FIELD:
		return trace_read_number(output->payload, node->field->offset, node->field->bytes,
					 &value)
			       ? value
			       : 0;
	case TRACE_LENGTH:
		return array_bytes(output, node);
	case TRACE_ELEMENT:
		return read_element(output, node);
	case TRACE_CAST:
		return trace_evaluate(output, operands[0]) & node->number;
	case TRACE_UNARY:
		return trace_apply(node->operator, 0, trace_evaluate(output, operands[0]));
	case TRACE_BINARY:
		value = trace_evaluate(output, operands[0]);
		return trace_apply(node->operator, value, trace_evaluate(output, operands[1]));
	case TRACE_CHOICE:
		value = trace_evaluate(output, operands[0]);
		return trace_evaluate(output, operands[value ? 1 : 2]);
	default:
		return 0; /* a text, or what only %s prints */
	}
}
