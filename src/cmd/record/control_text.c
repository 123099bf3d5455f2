/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As in perf, a word is known by its beginning, and only commands that may have an argument mind
 * what follows. perf takes what exceeds 63 bytes for the next command; here it is left out.
 */
#include "cmd/record/control_text.h"

#include <string.h>

static const struct {
	const char *word;
	enum control_verb verb;
	bool takes_argument;
} verbs[] = {
	{ "enable", CONTROL_ENABLE, true },   { "disable", CONTROL_DISABLE, true },
	{ "evlist", CONTROL_EVLIST, true },   { "snapshot", CONTROL_SNAPSHOT, false },
	{ "stop", CONTROL_STOP, false },      { "ping", CONTROL_PING, false },
};

static void parse(const char *text, struct control_command *ret)
{
	*ret = (struct control_command){ .text = text };
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		size_t length = strlen(verbs[i].word);

		if (strncmp(text, verbs[i].word, length) != 0)
			continue;
		ret->verb = verbs[i].verb;
		if (!verbs[i].takes_argument || !text[length])
			return;
		ret->malformed = text[length] != ' ';
		ret->argument = text + length + 1;
		return;
	}
}

bool control_text_end(struct control_text *text, struct control_command *ret)
{
	bool there = text->length > 0;

	text->text[text->length] = 0;
	parse(text->too_long ? "" : text->text, ret);
	if (text->too_long)
		ret->text = text->text;
	text->length = 0;
	text->too_long = false;
	return there;
}

bool control_text_take(struct control_text *text, char byte, struct control_command *ret)
{
	if (byte == '\n' || !byte)
		return control_text_end(text, ret);
	if (text->length == sizeof(text->text) - 1)
		text->too_long = true;
	else
		text->text[text->length++] = byte;
	return false;
}
