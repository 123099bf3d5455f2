/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens of a print format: names and numbers, strings, characters and operators. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tracepoint/print_parser.h"

void parser_fail(struct parser *parser)
{
	parser->failed = true;
	parser->token = (struct token){ .kind = TOKEN_END, .start = "" };
	parser->at = "";
}

static bool is_name_character(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

/* What is between the quotes; a backslash takes the next character with it. */
static void read_quoted(struct parser *parser, enum token_kind kind)
{
	char quote = *parser->at;
	const char *start = parser->at + 1, *end;

	for (end = start; *end && *end != quote; end++)
		if (*end == '\\' && end[1])
			end++;
	if (!*end) {
		parser_fail(parser);
		return;
	}
	parser->token = (struct token){ kind, start, end - start };
	parser->at = end + 1;
}

static size_t operator_length(const char *at)
{
	static const char *const longer[] = { "->", "<<", ">>", "<=", ">=",
					      "==", "!=", "&&", "||" };

	for (size_t i = 0; i < sizeof(longer) / sizeof(longer[0]); i++)
		if (!strncmp(at, longer[i], 2))
			return 2;
	return 1;
}

void parser_next(struct parser *parser)
{
	const char *start;

	while (isspace((unsigned char)*parser->at))
		parser->at++;
	start = parser->at;
	if (!*start) {
		parser->token = (struct token){ .kind = TOKEN_END, .start = "" };
	} else if (*start == '"') {
		read_quoted(parser, TOKEN_STRING);
	} else if (*start == '\'') {
		read_quoted(parser, TOKEN_CHARACTER);
	} else if (is_name_character(*start)) {
		while (is_name_character(*parser->at))
			parser->at++;
		parser->token = (struct token){ TOKEN_NAME, start, parser->at - start };
	} else {
		parser->at += operator_length(start);
		parser->token = (struct token){ TOKEN_OPERATOR, start, parser->at - start };
	}
}

bool parser_is(const struct parser *parser, const char *text)
{
	const struct token *token = &parser->token;

	return (token->kind == TOKEN_NAME || token->kind == TOKEN_OPERATOR) &&
	       strlen(text) == token->length && !memcmp(token->start, text, token->length);
}

bool parser_accept(struct parser *parser, const char *text)
{
	if (!parser_is(parser, text))
		return false;
	parser_next(parser);
	return true;
}

void parser_expect(struct parser *parser, const char *text)
{
	if (!parser_accept(parser, text))
		parser_fail(parser);
}

char *parser_string(struct parser *parser)
{
	char *text = parser->text;

	if (parser->token.kind != TOKEN_STRING) {
		parser_fail(parser);
		return NULL;
	}
	for (; parser->token.kind == TOKEN_STRING; parser_next(parser)) {
		memcpy(parser->text, parser->token.start, parser->token.length);
		parser->text += parser->token.length;
	}
	*parser->text++ = 0;
	return text;
}

/* Enumerators that some kernels leave in their formats (libtraceevent, eval_flag). */
static const struct {
	const char *name;
	uint64_t value;
} enumerators[] = {
	{ "HI_SOFTIRQ", 0 },	   { "TIMER_SOFTIRQ", 1 },   { "NET_TX_SOFTIRQ", 2 },
	{ "NET_RX_SOFTIRQ", 3 },   { "BLOCK_SOFTIRQ", 4 },   { "IRQ_POLL_SOFTIRQ", 5 },
	{ "TASKLET_SOFTIRQ", 6 },  { "SCHED_SOFTIRQ", 7 },   { "HRTIMER_SOFTIRQ", 8 },
	{ "RCU_SOFTIRQ", 9 },	   { "HRTIMER_NORESTART", 0 }, { "HRTIMER_RESTART", 1 },
};

uint64_t parser_number(const struct token *token, bool *ret_known)
{
	*ret_known = true;
	/* The number ends where the text of the token or one of its suffixes does. */
	if (isdigit((unsigned char)*token->start))
		return strtoull(token->start, NULL, 0);
	for (size_t i = 0; i < sizeof(enumerators) / sizeof(enumerators[0]); i++)
		if (strlen(enumerators[i].name) == token->length &&
		    !memcmp(enumerators[i].name, token->start, token->length))
			return enumerators[i].value;
	*ret_known = false;
	return 0;
}
