/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the expressions of a print format with C's precedence. Operations on constants are done
 * at once: kernels print masks as long sums of them.
 *
 * A cast is recognized without knowing the types: one or more names and stars in parentheses, with
 * an operand after them. Before what may be an operator with one operand or with two, as in
 * "(unsigned long)-1" and "(ENUMERATOR) - 1", a single name is no type.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tracepoint/print_parser.h"

uint32_t parser_add(struct parser *parser, struct trace_node node)
{
	struct trace_print *print = parser->print;
	unsigned int depth = 0;

	for (size_t i = 0; i < 3; i++)
		if (node.operands[i] != TRACE_NO_NODE && node.operands[i] < print->nodes.count &&
		    print->nodes.items[node.operands[i]].depth > depth)
			depth = print->nodes.items[node.operands[i]].depth;
	if (parser->failed || print->nodes.count == TRACE_NODES_MAX || depth == TRACE_DEPTH_MAX) {
		parser_fail(parser);
		return TRACE_NO_NODE;
	}
	node.depth = depth + 1;
	vector_append(&print->nodes, node);
	return print->nodes.count - 1;
}

static uint32_t add_number(struct parser *parser, uint64_t value)
{
	return parser_add(parser, (struct trace_node){ .kind = TRACE_NUMBER,
						       .operands = { TRACE_NO_NODE, TRACE_NO_NODE,
								     TRACE_NO_NODE },
						       .number = value });
}

static bool is_number(const struct parser *parser, uint32_t node)
{
	return !parser->failed && parser->print->nodes.items[node].kind == TRACE_NUMBER;
}

static uint64_t number_of(const struct parser *parser, uint32_t node)
{
	return parser->print->nodes.items[node].number;
}

/* The operands of what is folded are the last nodes. */
static uint32_t add_binary(struct parser *parser, enum trace_operator operator, uint32_t left,
			   uint32_t right)
{
	if (is_number(parser, left) && is_number(parser, right) && right == left + 1 &&
	    right + 1 == parser->print->nodes.count) {
		uint64_t value = trace_apply(operator, number_of(parser, left),
					     number_of(parser, right));

		parser->print->nodes.count = left;
		return add_number(parser, value);
	}
	return parser_add(parser, (struct trace_node){ .kind = TRACE_BINARY,
						       .operator = operator,
						       .operands = { left, right,
								     TRACE_NO_NODE } });
}

static uint32_t add_unary(struct parser *parser, enum trace_operator operator, uint32_t value)
{
	if (is_number(parser, value) && value + 1 == parser->print->nodes.count) {
		uint64_t result = trace_apply(operator, 0, number_of(parser, value));

		parser->print->nodes.count = value;
		return add_number(parser, result);
	}
	return parser_add(parser, (struct trace_node){ .kind = TRACE_UNARY,
						       .operator = operator,
						       .operands = { value, TRACE_NO_NODE,
								     TRACE_NO_NODE } });
}

const struct trace_field *parser_field(struct parser *parser)
{
	const struct trace_field *field = NULL;

	if (parser->token.kind == TOKEN_NAME)
		field = trace_format_find(parser->print->format, parser->token.start,
					  parser->token.length);
	if (field)
		parser_next(parser);
	else
		parser_fail(parser);
	return field;
}

static uint32_t parse_field(struct parser *parser)
{
	const struct trace_field *field;

	parser_expect(parser, "->");
	field = parser_field(parser);
	return parser_add(parser, (struct trace_node){ .kind = TRACE_FIELD,
						       .operands = { TRACE_NO_NODE, TRACE_NO_NODE,
								     TRACE_NO_NODE },
						       .field = field });
}

/* A type of names and stars, up to ")": `next` is what follows it. */
struct type {
	char name[32]; /* its words, with a blank between them */
	size_t words;
	bool pointer;
	struct parser next;
};

static bool is_cast(const struct type *type)
{
	const struct parser *next = &type->next;

	if (next->token.kind == TOKEN_NAME || next->token.kind == TOKEN_STRING ||
	    parser_is(next, "(") || parser_is(next, "~") || parser_is(next, "!"))
		return true;
	return (type->words > 1 || type->pointer || !strcmp(type->name, "int")) &&
	       (parser_is(next, "-") || parser_is(next, "+"));
}

static bool read_type(const struct parser *parser, struct type *ret)
{
	struct parser ahead = *parser;
	size_t length = 0;

	ret->pointer = false;
	ret->words = 0;
	for (; ahead.token.kind == TOKEN_NAME; parser_next(&ahead)) {
		if (length + ahead.token.length + 2 > sizeof(ret->name))
			return false;
		if (length)
			ret->name[length++] = ' ';
		memcpy(ret->name + length, ahead.token.start, ahead.token.length);
		length += ahead.token.length;
		ret->words++;
	}
	ret->name[length] = 0;
	if (!length || isdigit((unsigned char)*ret->name) || !strcmp(ret->name, "REC"))
		return false;
	while (parser_accept(&ahead, "*") || parser_accept(&ahead, "const"))
		ret->pointer = true;
	if (!parser_accept(&ahead, ")"))
		return false;
	ret->next = ahead;
	return true;
}

/* The types that libtraceevent narrows to (eval_type_str); all others are left as they are. */
static uint64_t type_mask(const struct type *type)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} types[] = {
		{ "u8", 0xff },		   { "s8", 0xff },	     { "char", 0xff },
		{ "unsigned char", 0xff }, { "u16", 0xffff },	     { "s16", 0xffff },
		{ "short", 0xffff },	   { "unsigned short", 0xffff }, { "u32", 0xffffffff },
		{ "s32", 0xffffffff },	   { "int", 0xffffffff },    { "unsigned int", 0xffffffff },
	};

	if (!type->pointer)
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (!strcmp(types[i].name, type->name))
				return types[i].mask;
	return UINT64_MAX;
}

static uint32_t add_cast(struct parser *parser, uint64_t mask, uint32_t value)
{
	if (is_number(parser, value)) {
		parser->print->nodes.items[value].number &= mask;
		return value;
	}
	return parser_add(parser, (struct trace_node){ .kind = TRACE_CAST,
						       .operands = { value, TRACE_NO_NODE,
								     TRACE_NO_NODE },
						       .number = mask });
}

static uint32_t parse_unary(struct parser *parser);

static uint32_t parse_parenthesis(struct parser *parser)
{
	struct type type;
	uint32_t node;

	if (read_type(parser, &type) && is_cast(&type)) {
		*parser = type.next;
		return add_cast(parser, type_mask(&type), parse_unary(parser));
	}
	/* "(REC)->field" */
	if (parser_is(parser, "REC")) {
		struct parser ahead = *parser;

		parser_next(&ahead);
		if (parser_accept(&ahead, ")")) {
			*parser = ahead;
			return parse_field(parser);
		}
	}
	node = parser_expression(parser);
	parser_expect(parser, ")");
	return node;
}

static uint32_t parse_name(struct parser *parser)
{
	struct token name = parser->token;
	uint64_t value;
	bool known;

	parser_next(parser);
	if (name.length == 3 && !memcmp(name.start, "REC", 3))
		return parse_field(parser);
	if (parser_accept(parser, "("))
		return parser_call(parser, &name);
	value = parser_number(&name, &known);
	parser->unknown |= !known;
	return add_number(parser, value);
}

static uint32_t parse_character(struct parser *parser)
{
	const struct token *token = &parser->token;
	uint64_t value = (unsigned char)*token->start;

	if (token->length == 2 && *token->start == '\\')
		value = token->start[1] == 'n' ? '\n' :
			token->start[1] == 't' ? '\t' :
			token->start[1] == '0' ? 0 :
						 (unsigned char)token->start[1];
	else if (token->length != 1)
		parser_fail(parser);
	parser_next(parser);
	return add_number(parser, value);
}

static uint32_t parse_operand(struct parser *parser)
{
	if (parser_accept(parser, "("))
		return parse_parenthesis(parser);
	if (parser->token.kind == TOKEN_NAME)
		return parse_name(parser);
	if (parser->token.kind == TOKEN_CHARACTER)
		return parse_character(parser);
	return parser_add(parser, (struct trace_node){ .kind = TRACE_TEXT,
						       .operands = { TRACE_NO_NODE, TRACE_NO_NODE,
								     TRACE_NO_NODE },
						       .text = parser_string(parser) });
}

static uint32_t parse_element(struct parser *parser, uint32_t array)
{
	const struct trace_node *node;
	uint32_t index = parser_expression(parser);

	parser_expect(parser, "]");
	if (parser->failed)
		return TRACE_NO_NODE;
	node = trace_uncast(parser->print, array);
	if (node->kind != TRACE_FIELD && node->kind != TRACE_BYTES)
		parser_fail(parser);
	return parser_add(parser, (struct trace_node){ .kind = TRACE_ELEMENT,
						       .operands = { array, index,
								     TRACE_NO_NODE } });
}

/* Deeper by one level of the grammar; false: too deep. */
static bool descend(struct parser *parser)
{
	if (++parser->depth > TRACE_DEPTH_MAX)
		parser_fail(parser);
	return !parser->failed;
}

static uint32_t parse_unary(struct parser *parser)
{
	static const struct {
		const char *text;
		enum trace_operator operator;
	} operators[] = { { "!", TRACE_NOT }, { "~", TRACE_COMPLEMENT }, { "-", TRACE_NEGATE } };
	uint32_t node = TRACE_NO_NODE;
	size_t i;

	if (!descend(parser))
		return TRACE_NO_NODE;
	for (i = 0; i < 3 && !parser_is(parser, operators[i].text); i++)
		;
	if (i < 3) {
		parser_next(parser);
		node = add_unary(parser, operators[i].operator, parse_unary(parser));
	} else if (parser_accept(parser, "+")) {
		node = parse_unary(parser);
	} else {
		node = parse_operand(parser);
		while (parser_accept(parser, "["))
			node = parse_element(parser, node);
	}
	parser->depth--;
	return node;
}

static const struct {
	const char *text;
	int precedence;
	enum trace_operator operator;
} binaries[] = {
	{ "||", 1, TRACE_OR },	      { "&&", 2, TRACE_AND },	    { "|", 3, TRACE_BIT_OR },
	{ "^", 4, TRACE_BIT_XOR },    { "&", 5, TRACE_BIT_AND },    { "==", 6, TRACE_EQUAL },
	{ "!=", 6, TRACE_UNEQUAL },   { "<", 7, TRACE_LESS },	    { ">", 7, TRACE_GREATER },
	{ "<=", 7, TRACE_AT_MOST },   { ">=", 7, TRACE_AT_LEAST },  { "<<", 8, TRACE_SHIFT_LEFT },
	{ ">>", 8, TRACE_SHIFT_RIGHT }, { "+", 9, TRACE_ADD },	    { "-", 9, TRACE_SUBTRACT },
	{ "*", 10, TRACE_MULTIPLY },  { "/", 10, TRACE_DIVIDE },    { "%", 10, TRACE_REMAINDER },
};
#define BINARIES (sizeof(binaries) / sizeof(binaries[0]))

/* Operators of at least that precedence; those of the same bind to the left. */
static uint32_t parse_binary(struct parser *parser, int precedence)
{
	uint32_t node = parse_unary(parser);

	for (;;) {
		uint32_t right;
		size_t i;

		for (i = 0; i < BINARIES && !parser_is(parser, binaries[i].text); i++)
			;
		if (i == BINARIES || binaries[i].precedence < precedence)
			return node;
		parser_next(parser);
		right = parse_binary(parser, binaries[i].precedence + 1);
		node = add_binary(parser, binaries[i].operator, node, right);
	}
}

uint32_t parser_expression(struct parser *parser)
{
	uint32_t node, yes, no;

	if (!descend(parser))
		return TRACE_NO_NODE;
	node = parse_binary(parser, 1);
	if (parser_accept(parser, "?")) {
		yes = parser_expression(parser);
		parser_expect(parser, ":");
		no = parser_expression(parser);
		node = parser_add(parser, (struct trace_node){ .kind = TRACE_CHOICE,
							       .operands = { node, yes, no } });
	}
	parser->depth--;
	return node;
}

bool trace_parse_arguments(struct trace_print *print, char **ret_format, uint32_t *ret_nodes,
			   size_t max, size_t *ret_count)
{
	struct parser parser = { .print = print, .at = print->format->print, .text = print->texts };

	*ret_count = 0;
	parser_next(&parser);
	*ret_format = parser_string(&parser);
	while (parser_accept(&parser, ",")) {
		if (*ret_count == max)
			return false;
		ret_nodes[(*ret_count)++] = parser_expression(&parser);
	}
	return !parser.failed && parser.token.kind == TOKEN_END;
}
