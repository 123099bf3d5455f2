/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What looks like calls in a print format: the macros of include/trace/stages/stage3_*.h. */
#include <stdlib.h>
#include <string.h>

#include "tracepoint/print_parser.h"

#define NO_OPERANDS { TRACE_NO_NODE, TRACE_NO_NODE, TRACE_NO_NODE }

/* "NAME)", the name of a field. */
static uint32_t parse_field_call(struct parser *parser, enum trace_node_kind kind)
{
	struct trace_node node = { .kind = kind, .operands = NO_OPERANDS };

	node.field = parser_field(parser);
	parser_expect(parser, ")");
	return parser_add(parser, node);
}

/* The value of a constant expression, whose node is not needed any more. */
static uint64_t parse_constant(struct parser *parser)
{
	struct trace_print *print = parser->print;
	uint32_t node = parser_expression(parser);

	if (parser->failed || node + 1 != print->nodes.count ||
	    print->nodes.items[node].kind != TRACE_NUMBER) {
		parser_fail(parser);
		return 0;
	}
	print->nodes.count = node;
	return print->nodes.items[node].number;
}

/* "{ VALUE, "TEXT" }"; "{ 0, ((void *)0) }" and "{ }" are the end of an empty list. */
static void parse_entry(struct parser *parser)
{
	struct trace_print *print = parser->print;
	struct trace_name name = { 0 };

	parser_expect(parser, "{");
	if (parser_accept(parser, "}"))
		return;
	parser->unknown = false;
	name.value = parse_constant(parser);
	parser_expect(parser, ",");
	if (parser->token.kind == TOKEN_STRING)
		name.text = parser_string(parser);
	else
		parse_constant(parser);
	parser_expect(parser, "}");
	if (print->names.count == TRACE_NAMES_MAX)
		parser_fail(parser);
	/* Flags may be made of enumerators whose values the kernel left out. */
	if (!parser->failed && !parser->unknown && name.text)
		vector_append(&print->names, name);
}

/* "VALUE, DELIMITER, { … }, …)" of flags, or the same without a delimiter. */
static uint32_t parse_names(struct parser *parser, enum trace_node_kind kind)
{
	struct trace_node node = { .kind = kind, .operands = NO_OPERANDS, .text = "" };

	node.operands[0] = parser_expression(parser);
	if (kind == TRACE_FLAGS) {
		parser_expect(parser, ",");
		/* No delimiter at all: __print_flags(value, , { … }) */
		if (!parser_is(parser, ","))
			node.text = parser_string(parser);
	}
	node.first_name = parser->print->names.count;
	while (parser_accept(parser, ","))
		parse_entry(parser);
	parser_expect(parser, ")");
	node.name_count = parser->print->names.count - node.first_name;
	return parser_add(parser, node);
}

/* "ARRAY, NUMBER[, NUMBER])" */
static uint32_t parse_array(struct parser *parser, enum trace_node_kind kind, size_t numbers)
{
	struct trace_node node = { .kind = kind, .operands = NO_OPERANDS };
	const struct trace_node *array;

	node.operands[0] = parser_expression(parser);
	for (size_t i = 1; i <= numbers; i++) {
		parser_expect(parser, ",");
		node.operands[i] = parser_expression(parser);
	}
	parser_expect(parser, ")");
	if (parser->failed)
		return TRACE_NO_NODE;
	array = trace_uncast(parser->print, node.operands[0]);
	if (array->kind != TRACE_FIELD && array->kind != TRACE_BYTES)
		parser_fail(parser);
	return parser_add(parser, node);
}

/* "VALUE, NUMBER)" */
static uint32_t parse_expect(struct parser *parser)
{
	uint32_t value = parser_expression(parser);

	parser_expect(parser, ",");
	/* The number is a node that nobody refers to. */
	parser_expression(parser);
	parser_expect(parser, ")");
	return value;
}

/* Bytes of the type whose first name is the current token; 0: unknown. */
static uint64_t read_type_bytes(struct parser *parser)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} types[] = { { "int", 4 },   { "u64", 8 },   { "s64", 8 },   { "__u64", 8 },
		      { "__s64", 8 }, { "u32", 4 },   { "s32", 4 },   { "__u32", 4 },
		      { "__s32", 4 }, { "u16", 2 },   { "s16", 2 },   { "__u16", 2 },
		      { "__s16", 2 }, { "u8", 1 },    { "s8", 1 },    { "__u8", 1 },
		      { "__s8", 1 },  { "char", 1 },  { "short", 2 } };
	bool is_unsigned = parser_accept(parser, "unsigned");

	if (parser_accept(parser, "long"))
		return parser_accept(parser, "long") ? 8 : parser->print->long_bytes;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (parser_accept(parser, types[i].name))
			return types[i].bytes;
	return is_unsigned ? 4 : 0;
}

/* "TYPE)" or "REC->field)", as a number. */
static uint32_t parse_sizeof(struct parser *parser)
{
	struct trace_node node = { .kind = TRACE_NUMBER, .operands = NO_OPERANDS };
	const struct trace_field *field;

	if (parser_accept(parser, "REC")) {
		parser_expect(parser, "->");
		field = parser_field(parser);
		node.number = field ? field->bytes : 0;
	} else {
		node.number = read_type_bytes(parser);
	}
	parser_expect(parser, ")");
	if (!node.number)
		parser_fail(parser);
	return parser_add(parser, node);
}

static const struct call {
	const char *name;
	uint32_t (*parse)(struct parser *parser); /* or: */
	enum { FIELD_CALL, NAMES, ARRAY } shape;
	enum trace_node_kind kind;
	size_t numbers;
} calls[] = {
	{ "__print_flags", NULL, NAMES, TRACE_FLAGS, 0 },
	{ "__print_symbolic", NULL, NAMES, TRACE_SYMBOL, 0 },
	{ "__print_hex", NULL, ARRAY, TRACE_HEX, 1 },
	{ "__print_hex_str", NULL, ARRAY, TRACE_HEX_STR, 1 },
	{ "__print_array", NULL, ARRAY, TRACE_ARRAY, 2 },
	{ "__get_str", NULL, FIELD_CALL, TRACE_STRING, 0 },
	{ "__get_rel_str", NULL, FIELD_CALL, TRACE_STRING, 0 },
	{ "__get_bitmask", NULL, FIELD_CALL, TRACE_BITMASK, 0 },
	{ "__get_rel_bitmask", NULL, FIELD_CALL, TRACE_BITMASK, 0 },
	{ "__get_cpumask", NULL, FIELD_CALL, TRACE_CPUMASK, 0 },
	{ "__get_rel_cpumask", NULL, FIELD_CALL, TRACE_CPUMASK, 0 },
	{ "__get_dynamic_array", NULL, FIELD_CALL, TRACE_BYTES, 0 },
	{ "__get_rel_dynamic_array", NULL, FIELD_CALL, TRACE_BYTES, 0 },
	{ "__get_sockaddr", NULL, FIELD_CALL, TRACE_BYTES, 0 },
	{ "__get_rel_sockaddr", NULL, FIELD_CALL, TRACE_BYTES, 0 },
	{ "__get_dynamic_array_len", NULL, FIELD_CALL, TRACE_LENGTH, 0 },
	{ "__get_rel_dynamic_array_len", NULL, FIELD_CALL, TRACE_LENGTH, 0 },
	{ "__builtin_expect", parse_expect, FIELD_CALL, 0, 0 },
	{ "sizeof", parse_sizeof, FIELD_CALL, 0, 0 },
};

uint32_t parser_call(struct parser *parser, const struct token *name)
{
	const struct call *call = calls, *end = calls + sizeof(calls) / sizeof(calls[0]);

	while (call < end && (strlen(call->name) != name->length ||
			      memcmp(call->name, name->start, name->length)))
		call++;
	if (call == end) {
		parser_fail(parser);
		return TRACE_NO_NODE;
	}
	if (call->parse)
		return call->parse(parser);
	if (call->shape == NAMES)
		return parse_names(parser, call->kind);
	if (call->shape == ARRAY)
		return parse_array(parser, call->kind, call->numbers);
	return parse_field_call(parser, call->kind);
}
