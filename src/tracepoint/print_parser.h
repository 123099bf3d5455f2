/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of a print format's expressions, private to print_tokens.c, print_parse.c and
 * print_calls.c. After an error `failed` stays set and the current token is TOKEN_END, so that all
 * loops end.
 */
#ifndef TRACEPOINT_PRINT_PARSER_H
#define TRACEPOINT_PRINT_PARSER_H

#include "tracepoint/print_program.h"

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_STRING, TOKEN_CHARACTER, TOKEN_OPERATOR };

struct token {
	enum token_kind kind;
	const char *start; /* without quotes */
	size_t length;
};

struct parser {
	struct trace_print *print;
	const char *at;	    /* after the current token */
	struct token token; /* the current one */
	char *text;	    /* the rest of print->texts */
	unsigned int depth;
	bool unknown; /* a name was met whose value is unknown; it counts as 0 */
	bool failed;
};

/* print_tokens.c */
void parser_next(struct parser *parser);
void parser_fail(struct parser *parser);
/* Whether the current token is that operator or name. */
bool parser_is(const struct parser *parser, const char *text);
/* The same, and moves on if it is. */
bool parser_accept(struct parser *parser, const char *text);
void parser_expect(struct parser *parser, const char *text);
/* The string at the current token and those that follow, as one; NULL and a failure: none. */
char *parser_string(struct parser *parser);
/* The value of a name: a number as in C; *ret_known is false if it is not one. */
uint64_t parser_number(const struct token *token, bool *ret_known);

/* print_parse.c: return a node; any node after a failure */
uint32_t parser_add(struct parser *parser, struct trace_node node);
uint32_t parser_expression(struct parser *parser);
/* The field whose name is the current token. */
const struct trace_field *parser_field(struct parser *parser);

/* print_calls.c: what follows NAME and "(" */
uint32_t parser_call(struct parser *parser, const struct token *name);

#endif
