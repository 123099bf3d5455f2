/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * {"QMP": …} is the greeting; {"return": …} and {"error": {"class": …, "desc": …}} are answers.
 *
 * Values are counted before json-c sees the message. The parser is strict: otherwise it would take
 * single quotes and comments, which the count does not know.
 */
#include "host/vm/qmp_message.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/utf8.h"

#define MAX_DEPTH 16

struct qmp_parser {
	struct json_tokener *tokener;
};

struct qmp_parser *qmp_parser_create(void)
{
	struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
	struct qmp_parser *parser;

	if (!tokener)
		return NULL;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	parser = memory_calloc(1, sizeof(*parser));
	parser->tokener = tokener;
	return parser;
}

void qmp_parser_destroy(struct qmp_parser *parser)
{
	if (!parser)
		return;
	json_tokener_free(parser->tokener);
	free(parser);
}

/* Every value follows the start of an array or an object, or a comma or colon in one. */
static bool has_too_many_values(const char *line, size_t length)
{
	bool in_string = false;
	size_t count = 0;

	for (size_t i = 0; i < length; i++) {
		if (line[i] == '"')
			in_string = !in_string;
		else if (in_string && line[i] == '\\')
			i++;
		else if (!in_string)
			count += line[i] == '{' || line[i] == '[' || line[i] == ',';
	}
	return count > QMP_VALUES_MAX;
}

/* The caller must put it; NULL: malformed. */
static struct json_object *parse_object(struct qmp_parser *parser, const char *line, size_t length)
{
	struct json_object *message;

	if (length > INT_MAX || has_too_many_values(line, length))
		return NULL;
	json_tokener_reset(parser->tokener);
	message = json_tokener_parse_ex(parser->tokener, line, (int)length);
	if (message && json_tokener_get_error(parser->tokener) == json_tokener_success &&
	    json_object_is_type(message, json_type_object))
		return message;
	json_object_put(message);
	return NULL;
}

static void read_reason(struct json_object *failure, char ret_reason[QMP_REASON_BYTES])
{
	struct json_object *text = NULL;

	snprintf(ret_reason, QMP_REASON_BYTES, "no reason given");
	if (json_object_is_type(failure, json_type_object) &&
	    json_object_object_get_ex(failure, "desc", &text) &&
	    json_object_is_type(text, json_type_string))
		utf8_printable(json_object_get_string(text), json_object_get_string_len(text),
			       ret_reason, QMP_REASON_BYTES);
}

/* An answer whose command was given up may come while another one is waited for. */
static bool is_for_another(struct json_object *message, uint32_t id)
{
	struct json_object *number;

	return json_object_object_get_ex(message, "id", &number) &&
	       (!json_object_is_type(number, json_type_int) ||
		json_object_get_int64(number) != id);
}

enum qmp_message_kind qmp_parse(struct qmp_parser *parser, const char *line, size_t length,
				uint32_t id, struct buffer *text,
				char ret_reason[QMP_REASON_BYTES])
{
	struct json_object *message = parse_object(parser, line, length), *answer;
	enum qmp_message_kind kind = QMP_EVENT;

	if (!message)
		return QMP_MALFORMED;
	if (is_for_another(message, id)) {
		kind = QMP_EVENT;
	} else if (json_object_object_get_ex(message, "error", &answer)) {
		read_reason(answer, ret_reason);
		kind = QMP_ERROR;
	} else if (json_object_object_get_ex(message, "return", &answer)) {
		if (text && json_object_is_type(answer, json_type_string))
			buffer_append(text, json_object_get_string(answer),
				      json_object_get_string_len(answer));
		kind = QMP_RETURN;
	} else if (json_object_object_get_ex(message, "QMP", NULL)) {
		kind = QMP_GREETING;
	}
	json_object_put(message);
	return kind;
}
