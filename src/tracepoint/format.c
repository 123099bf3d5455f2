/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the format of a tracepoint line by line:
 *
 *	name: sched_switch
 *	ID: 316
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *		field:__data_loc char[] path;	offset:24;	size:4;	signed:0;
 *
 *	print fmt: "…", REC->prev_comm, …
 *
 * What a field is follows from its type as in libtraceevent (event_read_fields): an array has
 * brackets, a string is an array of a type with "char", "u8" or "s8" in its name.
 */
#include "tracepoint/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Text that is consumed from its start; lines and declarations end in a terminator. */
static char *next_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (!*line)
		return NULL;
	if (end)
		*end = 0;
	*text = end ? end + 1 : line + strlen(line);
	return line;
}

static char *skip_space(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static bool is_name_character(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

/* "offset:8;" at *TEXT; moves behind it. */
static bool read_property(char **text, const char *name, uint32_t *ret)
{
	size_t length = strlen(name);
	char *at = skip_space(*text), *end;
	unsigned long value;

	if (strncmp(at, name, length) || at[length] != ':' ||
	    !isdigit((unsigned char)at[length + 1]))
		return false;
	value = strtoul(at + length + 1, &end, 10);
	if (*end != ';' || value > TRACE_RAW_MAX)
		return false;
	*ret = value;
	*text = end + 1;
	return true;
}

/* Bytes of an element of a dynamic array, whose declaration up to the bracket is TYPE. */
static uint32_t dynamic_element_bytes(const char *type, const char *end)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = { { "u8", 1 },  { "u16", 2 }, { "u32", 4 }, { "u64", 8 }, { "s8", 1 },
		      { "s16", 2 }, { "s32", 4 }, { "s64", 8 }, { "char", 1 } };
	const char *start;

	while (end > type && isspace((unsigned char)end[-1]))
		end--;
	for (start = end; start > type && is_name_character(start[-1]); start--)
		;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == (size_t)(end - start) &&
		    !memcmp(types[i].name, start, end - start))
			return types[i].bytes;
	return 0;
}

static bool has_word(const char *text, const char *end, const char *word)
{
	return memmem(text, end - text, word, strlen(word));
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* What the type, the text from TYPE to END, says about the field. */
static uint32_t type_flags(const char *type, const char *end, bool array)
{
	uint32_t flags = array ? TRACE_FIELD_ARRAY : 0;

	if (array && (has_word(type, end, "char") || has_word(type, end, "u8") ||
		      has_word(type, end, "s8")))
		flags |= TRACE_FIELD_STRING;
	if (memchr(type, '*', end - type))
		flags |= TRACE_FIELD_POINTER;
	if (has_word(type, end, "long"))
		flags |= TRACE_FIELD_LONG;
	if (starts_with(type, "__data_loc"))
		flags |= TRACE_FIELD_DYNAMIC;
	if (starts_with(type, "__rel_loc"))
		flags |= TRACE_FIELD_DYNAMIC | TRACE_FIELD_RELATIVE;
	return flags;
}

/* The number in the last brackets, 0 if there is no number. */
static uint32_t array_length(const char *bracket)
{
	unsigned long length = strtoul(skip_space((char *)bracket + 1), NULL, 0);

	return length <= TRACE_RAW_MAX ? length : 0;
}

/*
 * "char prev_comm[16]", "__data_loc char[] path", "const char * __attribute__((user)) name":
 * terminates the name in place. Stores the number of elements, 0 if unknown.
 */
static bool read_declaration(char *type, struct trace_field *field, uint32_t *ret_elements)
{
	char *open = strchr(type, '['), *close = strrchr(type, ']');
	char *end, *start;

	*ret_elements = 0;
	if (!open != !close || (open && close < open))
		return false;
	/* The name is what follows the brackets, else what is before them. */
	end = type + strlen(type);
	if (close && !*skip_space(close + 1))
		end = open;
	while (end > type && isspace((unsigned char)end[-1]))
		end--;
	for (start = end; start > type && is_name_character(start[-1]); start--)
		;
	if (start == end || start == type)
		return false;
	field->flags = type_flags(type, start, open);
	if (open) {
		*ret_elements = array_length(strrchr(type, '['));
		field->element_bytes = dynamic_element_bytes(type, open);
	}
	*end = 0;
	field->name = start;
	return true;
}

static void set_element_bytes(struct trace_field *field, uint32_t elements)
{
	if (!(field->flags & (TRACE_FIELD_ARRAY | TRACE_FIELD_DYNAMIC)))
		field->element_bytes = field->bytes;
	else if (elements)
		field->element_bytes = field->bytes / elements;
	else if (field->flags & TRACE_FIELD_DYNAMIC)
		return;
	else if (field->flags & TRACE_FIELD_STRING)
		field->element_bytes = 1;
	else
		field->element_bytes = 0;
}

static bool read_field(char *text, struct trace_field *ret)
{
	struct trace_field field = { 0 };
	char *end = strchr(text, ';');
	uint32_t elements, is_signed = 0;

	if (!end)
		return false;
	*end = 0;
	if (!read_declaration(skip_space(text), &field, &elements))
		return false;
	text = end + 1;
	if (!read_property(&text, "offset", &field.offset) ||
	    !read_property(&text, "size", &field.bytes) ||
	    field.bytes > TRACE_RAW_MAX - field.offset)
		return false;
	/* Linux before 2.6.33 does not say it. */
	if (read_property(&text, "signed", &is_signed) && is_signed)
		field.flags |= TRACE_FIELD_SIGNED;
	if ((field.flags & TRACE_FIELD_DYNAMIC) && field.bytes == 2)
		field.flags |= TRACE_FIELD_STRING | TRACE_FIELD_ARRAY;
	set_element_bytes(&field, elements);
	*ret = field;
	return true;
}

static bool read_head(char **text, struct trace_format *format)
{
	char *line = next_line(text), *end;

	if (!line || !starts_with(line, "name:"))
		return false;
	format->name = skip_space(line + strlen("name:"));
	line = next_line(text);
	if (!line || !starts_with(line, "ID:"))
		return false;
	line = skip_space(line + strlen("ID:"));
	format->id = strtoull(line, &end, 10);
	if (!*format->name || end == line || *skip_space(end))
		return false;
	line = next_line(text);
	return line && starts_with(line, "format:");
}

static bool add_field(struct trace_format *format, size_t *capacity, char *text)
{
	if (format->field_count == TRACE_FIELDS_MAX)
		return false;
	if (format->field_count == *capacity) {
		*capacity = *capacity ? 2 * *capacity : 16;
		format->fields = memory_resize(format->fields, *capacity, sizeof(*format->fields));
	}
	return read_field(text, &format->fields[format->field_count++]);
}

static bool read_fields(char **text, struct trace_format *format)
{
	size_t capacity = 0;
	bool common = true;

	for (;;) {
		char *at = skip_space(*text), *line;

		/* It may have several lines. */
		if (starts_with(at, "print fmt:")) {
			format->print = at + strlen("print fmt:");
			return true;
		}
		line = next_line(text);
		if (!line)
			return true;
		at = skip_space(line);
		if (starts_with(at, "field:")) {
			if (!add_field(format, &capacity, at + strlen("field:")))
				return false;
		} else if (*at) {
			return false;
		}
		common = common && (*at || !format->field_count);
		if (common)
			format->common_count = format->field_count;
	}
}

bool trace_format_parse(const char *text, size_t bytes, struct trace_format *ret)
{
	struct trace_format format = { .print = "" };
	char *at;

	*ret = (struct trace_format){ .name = "", .print = "" };
	if (bytes > TRACE_FORMAT_BYTES_MAX || memchr(text, 0, bytes))
		return false;
	format.text = at = memory_strndup(text, bytes);
	if (read_head(&at, &format) && read_fields(&at, &format)) {
		*ret = format;
		return true;
	}
	trace_format_deinit(&format);
	return false;
}

void trace_format_deinit(struct trace_format *format)
{
	free(format->fields);
	free(format->text);
	*format = (struct trace_format){ .name = "", .print = "" };
}

const struct trace_field *trace_format_find(const struct trace_format *format, const char *name,
					    size_t length)
{
	for (size_t i = 0; i < format->field_count; i++)
		if (!strncmp(format->fields[i].name, name, length) &&
		    !format->fields[i].name[length])
			return &format->fields[i];
	return NULL;
}
