/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON (RFC 8259), indented by two spaces, one member to a line; but see json_open_line(). */
#include "output/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void json_init(struct json *json, FILE *out)
{
	*json = (struct json){ .out = out };
}

/* Above U+FFFF two surrogates stand for it (RFC 8259, 7). */
static void write_escape(FILE *out, uint32_t character)
{
	if (character > 0xffff)
		fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32,
			0xd800 + ((character - 0x10000) >> 10), 0xdc00 + (character & 0x3ff));
	else
		fprintf(out, "\\u%04" PRIx32, character);
}

static void write_quoted(FILE *out, const char *text)
{
	size_t left = strlen(text);

	putc('"', out);
	while (left) {
		uint32_t character;
		size_t length = utf8_decode(text, left, &character);

		if (!length)
			fputs("\\ufffd", out);
		else if (character == '"' || character == '\\')
			fprintf(out, "\\%c", (int)character);
		else if (utf8_steers_terminal(character))
			write_escape(out, character);
		else
			fwrite(text, 1, length, out);
		length += !length;
		text += length;
		left -= length;
	}
	putc('"', out);
}

static bool is_on_line(const struct json *json)
{
	return json->depth && json->on_line[json->depth - 1];
}

static void start_line(struct json *json)
{
	putc('\n', json->out);
	for (unsigned int i = 0; i < json->depth; i++)
		fputs("  ", json->out);
}

/* Writes everything that precedes a value: the comma, the indentation, the key. */
static void start_value(struct json *json, const char *key)
{
	if (json->depth) {
		if (json->filled[json->depth - 1])
			putc(',', json->out);
		json->filled[json->depth - 1] = true;
		if (!is_on_line(json))
			start_line(json);
	}
	if (key) {
		write_quoted(json->out, key);
		fputs(is_on_line(json) ? ":" : ": ", json->out);
	}
}

static void end_value(struct json *json)
{
	if (!json->depth)
		putc('\n', json->out);
}

static void open_container(struct json *json, const char *key, char opening, char closing)
{
	assert(json->depth < JSON_MAX_DEPTH);
	start_value(json, key);
	putc(opening, json->out);
	json->closing[json->depth] = closing;
	json->on_line[json->depth] = is_on_line(json);
	json->filled[json->depth] = false;
	json->depth++;
}

void json_open_object(struct json *json, const char *key)
{
	open_container(json, key, '{', '}');
}

void json_open_array(struct json *json, const char *key)
{
	open_container(json, key, '[', ']');
}

void json_open_line(struct json *json, const char *key)
{
	json_open_array(json, key);
	json->on_line[json->depth - 1] = true;
}

void json_close(struct json *json)
{
	assert(json->depth);
	json->depth--;
	if (json->filled[json->depth] && !json->on_line[json->depth])
		start_line(json);
	putc(json->closing[json->depth], json->out);
	end_value(json);
}

void json_string(struct json *json, const char *key, const char *text)
{
	if (!text) {
		json_null(json, key);
		return;
	}
	start_value(json, key);
	write_quoted(json->out, text);
	end_value(json);
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
	start_value(json, key);
	fprintf(json->out, "%" PRIu64, value);
	end_value(json);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	start_value(json, key);
	fprintf(json->out, "%" PRId64, value);
	end_value(json);
}

void json_double(struct json *json, const char *key, double value)
{
	char text[32];

	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	start_value(json, key);
	fputs(text, json->out);
	end_value(json);
}

void json_milliseconds(struct json *json, const char *key, uint64_t ns)
{
	start_value(json, key);
	fprintf(json->out, "%" PRIu64 ".%06" PRIu64, ns / 1000000, ns % 1000000);
	end_value(json);
}

void json_bool(struct json *json, const char *key, bool value)
{
	start_value(json, key);
	fputs(value ? "true" : "false", json->out);
	end_value(json);
}

void json_null(struct json *json, const char *key)
{
	start_value(json, key);
	fputs("null", json->out);
	end_value(json);
}
