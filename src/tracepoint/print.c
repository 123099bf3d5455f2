/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiles the format string of a print format to pieces, and prints them. A conversion is
 * "%", flags, width, precision, length, letter as in printf(); its number is narrowed to the length
 * that it gives before it is printed, so that the printf() called here always gets a long long.
 */
#include "tracepoint/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracepoint/print_program.h"

struct compiler {
	struct trace_print *print;
	const uint32_t *nodes; /* the arguments that are left */
	size_t node_count;
	char *text; /* the format string; texts of pieces are made in it */
};

static bool take_node(struct compiler *compiler, uint32_t *ret)
{
	if (!compiler->node_count)
		return false;
	compiler->node_count--;
	*ret = *compiler->nodes++;
	return true;
}

/* The digits at *AT or "*"; false: too wide, or a second "*". */
static bool read_number(struct compiler *compiler, char **at, struct trace_piece *piece,
			int *ret_number, bool *ret_given)
{
	int number = 0;

	if (**at == '*') {
		++*at;
		*ret_given = true;
		return !(piece->given_width && piece->given_precision) &&
		       take_node(compiler, &piece->length);
	}
	for (; isdigit((unsigned char)**at); ++*at) {
		number = 10 * number + **at - '0';
		if (number > TRACE_WIDTH_MAX)
			return false;
	}
	*ret_number = number;
	return true;
}

static void read_length(char **at, struct trace_piece *piece)
{
	int longs = 0;

	for (; **at && strchr("hlLzZ", **at); ++*at) {
		if (**at == 'h' && longs > -2)
			longs--;
		else if (**at == 'l' && longs < 2)
			longs++;
		else if (**at == 'L')
			longs = 2;
		else if (**at == 'z' || **at == 'Z')
			longs = 1;
	}
	piece->longs = longs;
}

/* The text after "%": flags, width, precision and length up to the letter. */
static bool read_conversion(struct compiler *compiler, char **at, struct trace_piece *piece)
{
	char flags[8] = "";
	size_t flag_count = 0;

	piece->precision = -1;
	for (; **at && strchr("-+ #0", **at); ++*at) {
		if (flag_count + 1 == sizeof(flags))
			return false;
		flags[flag_count++] = **at;
		piece->left |= **at == '-';
	}
	if (!read_number(compiler, at, piece, &piece->width, &piece->given_width))
		return false;
	if (**at == '.') {
		++*at;
		if (!read_number(compiler, at, piece, &piece->precision, &piece->given_precision))
			return false;
	}
	read_length(at, piece);
	piece->conversion = **at;
	if (!piece->conversion || !strchr("diuoxXcsp", piece->conversion))
		return false;
	++*at;
	snprintf(piece->spec, sizeof(piece->spec), "%%%s*.*ll%c", flags, piece->conversion);
	return !(piece->given_width && piece->given_precision) &&
	       take_node(compiler, &piece->node);
}

static bool add_piece(struct trace_print *print, const struct trace_piece *piece)
{
	if (print->pieces.count == TRACE_PIECES_MAX)
		return false;
	vector_append(&print->pieces, *piece);
	return true;
}

/*
 * The text up to the next conversion, made where it is; backslashes are those of C. Stores whether
 * there is a conversion, which is at *AT then.
 */
static bool compile_text(struct compiler *compiler, char **at, bool *ret_more)
{
	struct trace_piece piece = { .text = *at };
	char *to = *at, *from = *at;

	for (; *from && (*from != '%' || from[1] == '%'); from++) {
		if (*from == '%') {
			from++;
		} else if (*from == '\\' && from[1]) {
			from++;
			*from = *from == 'n' ? '\n' : *from == 't' ? '\t' :
				*from == 'r' ? '\r' : *from;
		}
		*to++ = *from;
	}
	*ret_more = *from;
	*at = from + *ret_more;
	*to = 0;
	return add_piece(compiler->print, &piece);
}

static bool compile_conversion(struct compiler *compiler, char **at)
{
	struct trace_piece piece = { 0 };
	size_t length;

	if (!read_conversion(compiler, at, &piece))
		return false;
	if (piece.conversion == 'p') {
		length = trace_pointer_length(*at);
		snprintf(piece.spec, sizeof(piece.spec), "%.*s", (int)length, *at);
		*at += length;
		if (!trace_pointer_supported(compiler->print, &piece))
			return false;
	}
	return add_piece(compiler->print, &piece);
}

static bool compile(struct compiler *compiler)
{
	char *at = compiler->text;
	bool more = true;

	while (more) {
		if (!compile_text(compiler, &at, &more) ||
		    (more && !compile_conversion(compiler, &at)))
			return false;
	}
	return true;
}

struct trace_print *trace_print_create(const struct trace_format *format, uint8_t long_bytes)
{
	struct trace_print *print = memory_calloc(1, sizeof(*print));
	uint32_t nodes[TRACE_ARGUMENTS_MAX];
	struct compiler compiler = { .print = print, .nodes = nodes };

	print->format = format;
	print->long_bytes = long_bytes;
	print->texts = memory_alloc(strlen(format->print) + 1);
	if (trace_parse_arguments(print, &compiler.text, nodes, TRACE_ARGUMENTS_MAX,
				  &compiler.node_count) &&
	    compile(&compiler))
		return print;
	trace_print_destroy(print);
	return NULL;
}

void trace_print_destroy(struct trace_print *print)
{
	if (!print)
		return;
	vector_deinit(&print->nodes);
	vector_deinit(&print->names);
	vector_deinit(&print->pieces);
	free(print->texts);
	free(print);
}

/* VALUE as the type that the length in the conversion stands for. */
static uint64_t narrow(const struct trace_piece *piece, uint64_t value)
{
	bool is_signed = piece->conversion == 'd' || piece->conversion == 'i';

	switch (piece->longs) {
	case -2:
		return is_signed ? (uint64_t)(int8_t)value : (uint8_t)value;
	case -1:
		return is_signed ? (uint64_t)(int16_t)value : (uint16_t)value;
	case 0:
		return is_signed ? (uint64_t)(int32_t)value : (uint32_t)value;
	default:
		return value;
	}
}

/* A width or precision that the raw data gives. */
static int bounded(uint64_t value)
{
	return value < TRACE_WIDTH_MAX ? (int)value : TRACE_WIDTH_MAX;
}

/* SPEC is made by read_conversion(): "%", flags, "*.*ll", and one of "diuoxX". */
static void append_number(struct buffer *out, const char *spec, int width, int precision,
			  uint64_t value)
{
	char text[2 * TRACE_WIDTH_MAX];

	snprintf(text, sizeof(text), spec, width, precision, (unsigned long long)value);
	buffer_append_string(out, text);
}

static void append_piece(const struct trace_output *output, const struct trace_piece *piece)
{
	int width = piece->width, precision = piece->precision, given = 1;
	uint64_t value;

	if (piece->given_width || piece->given_precision) {
		value = trace_evaluate(output, piece->length);
		given = bounded(value);
		width = piece->given_width ? given : width;
		/* A negative precision is none. */
		precision = piece->given_precision ? (int32_t)value : precision;
	}
	switch (piece->conversion) {
	case 0:
		buffer_append_string(output->out, piece->text);
		break;
	case 's':
		trace_append_text(output, piece, width, precision, piece->node);
		break;
	case 'p':
		trace_append_pointer(output, piece, given);
		break;
	case 'c':
		value = trace_evaluate(output, piece->node);
		if ((char)value)
			buffer_printf(output->out, piece->left ? "%-*c" : "%*c", width,
				      (char)value);
		break;
	default:
		value = narrow(piece, trace_evaluate(output, piece->node));
		append_number(output->out, piece->spec, width,
			      precision < TRACE_WIDTH_MAX ? precision : TRACE_WIDTH_MAX, value);
	}
}

void trace_print_append(const struct trace_print *print, const struct trace_payload *payload,
			const struct trace_functions *functions, struct buffer *out)
{
	struct trace_output output = { print, payload, functions, out };

	for (size_t i = 0; i < print->pieces.count && !out->overflow; i++)
		append_piece(&output, &print->pieces.items[i]);
}
