/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A compiled print format, private to print_*.c: a list of pieces, each a text or a conversion of
 * an expression. Expressions are trees of nodes in one array; a node's operands are before it.
 */
#ifndef TRACEPOINT_PRINT_PROGRAM_H
#define TRACEPOINT_PRINT_PROGRAM_H

#include "base/vector.h"
#include "tracepoint/print.h"

#define TRACE_NODES_MAX 4096
#define TRACE_DEPTH_MAX 200    /* of a tree, and of the parser's recursion */
#define TRACE_NAMES_MAX 16384  /* in all __print_flags() and __print_symbolic() */
#define TRACE_PIECES_MAX 1024
#define TRACE_ARGUMENTS_MAX 256
#define TRACE_WIDTH_MAX 999    /* of a conversion */

enum trace_node_kind {
	TRACE_NUMBER,
	TRACE_TEXT,	/* a string literal */
	TRACE_FIELD,	/* REC->field */
	TRACE_BYTES,	/* __get_dynamic_array(field), __get_sockaddr(field) */
	TRACE_LENGTH,	/* __get_dynamic_array_len(field) */
	TRACE_STRING,	/* __get_str(field) */
	TRACE_BITMASK,	/* __get_bitmask(field) */
	TRACE_CPUMASK,	/* __get_cpumask(field) */
	TRACE_ELEMENT,	/* a field's or dynamic array's element: array, index */
	TRACE_CAST,	/* to a number of `number` as mask: value */
	TRACE_UNARY,	/* operator: value */
	TRACE_BINARY,	/* operator: left, right */
	TRACE_CHOICE,	/* condition ? yes : no */
	TRACE_FLAGS,	/* __print_flags(): value; text is the delimiter */
	TRACE_SYMBOL,	/* __print_symbolic(): value */
	TRACE_HEX,	/* __print_hex(): array, length */
	TRACE_HEX_STR,	/* __print_hex_str(): the same */
	TRACE_ARRAY,	/* __print_array(): array, count, bytes of an element */
};

enum trace_operator {
	TRACE_OR,
	TRACE_AND,
	TRACE_BIT_OR,
	TRACE_BIT_XOR,
	TRACE_BIT_AND,
	TRACE_EQUAL,
	TRACE_UNEQUAL,
	TRACE_LESS,
	TRACE_GREATER,
	TRACE_AT_MOST,
	TRACE_AT_LEAST,
	TRACE_SHIFT_LEFT,
	TRACE_SHIFT_RIGHT,
	TRACE_ADD,
	TRACE_SUBTRACT,
	TRACE_MULTIPLY,
	TRACE_DIVIDE,
	TRACE_REMAINDER,
	TRACE_NOT,
	TRACE_COMPLEMENT,
	TRACE_NEGATE,
};

#define TRACE_NO_NODE UINT32_MAX

struct trace_node {
	uint8_t kind;	  /* enum trace_node_kind */
	uint8_t operator; /* enum trace_operator */
	uint16_t depth;
	uint32_t operands[3];
	uint32_t first_name, name_count; /* of flags and symbols */
	uint64_t number;
	const char *text;
	const struct trace_field *field;
};

struct trace_name {
	uint64_t value;
	const char *text;
};

/* A text if conversion is 0. */
struct trace_piece {
	char conversion; /* one of "diuoxXcsp" */
	int8_t longs;	 /* "l" is 1, "ll" and "L" are 2, "h" is -1, "hh" is -2 */
	bool left;	 /* "-" */
	int width;	 /* 0: none */
	int precision;	 /* -1: none */
	bool given_width, given_precision; /* "*": by the node `length` */
	char spec[16];	 /* for a number: of printf() with width, precision and a long long; for
			  * %p: the letters after it */
	const char *text;
	uint32_t node, length;
};

struct trace_print {
	const struct trace_format *format;
	char *texts; /* of string literals; as much room as the print format is long */
	uint8_t long_bytes;
	VECTOR(struct trace_node) nodes;
	VECTOR(struct trace_name) names;
	VECTOR(struct trace_piece) pieces;
};

/* What expressions and texts are printed with. */
struct trace_output {
	const struct trace_print *print;
	const struct trace_payload *payload;
	const struct trace_functions *functions;
	struct buffer *out;
};

/*
 * print_parse.c: the format string and the nodes of its arguments, at most MAX; false: not
 * supported.
 */
bool trace_parse_arguments(struct trace_print *print, char **ret_format, uint32_t *ret_nodes,
			   size_t max, size_t *ret_count);

/* print_number.c */
uint64_t trace_apply(enum trace_operator operator, uint64_t left, uint64_t right);
uint64_t trace_evaluate(const struct trace_output *output, uint32_t node);
/* NODE without casts. */
const struct trace_node *trace_uncast(const struct trace_print *print, uint32_t node);
/* The bytes of the array that NODE names, which are in the payload. */
const uint8_t *trace_node_bytes(const struct trace_output *output, const struct trace_node *node,
				size_t *ret_bytes);

/* print_text.c: for %s */
void trace_append_text(const struct trace_output *output, const struct trace_piece *piece,
		       int width, int precision, uint32_t node);

/* print_pointer.c: for %p and what may follow it */
size_t trace_pointer_length(const char *text);
bool trace_pointer_supported(const struct trace_print *print, const struct trace_piece *piece);
void trace_append_pointer(const struct trace_output *output, const struct trace_piece *piece,
			  int length);

#endif
