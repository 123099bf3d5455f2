/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of VMMs, and QEMU's property lists as parsed by its QemuOpts. */
#include "host/vm/vm_command.h"

#include <string.h>

#include "base/memory.h"

bool vm_command_next(const struct vm_command *command, size_t *offset, struct vm_span *ret)
{
	if (*offset >= command->size)
		return false;
	ret->text = command->bytes + *offset;
	ret->length = strnlen(ret->text, command->size - *offset);
	*offset += ret->length + 1;
	return true;
}

/*
 * Compares OPTION with ARGUMENT. For -option VALUE and --option VALUE, *RET is an empty span with
 * text NULL (the value is the next argument); for --option=VALUE it is VALUE. False: another
 * option.
 */
static bool match_option(struct vm_span argument, const char *option, struct vm_span *ret)
{
	size_t length = strlen(option);
	size_t dashes = 0;

	while (dashes < 2 && dashes < argument.length && argument.text[dashes] == '-')
		dashes++;
	if (!dashes || argument.length - dashes < length ||
	    memcmp(argument.text + dashes, option, length))
		return false;
	*ret = (struct vm_span){ argument.text + dashes + length,
				 argument.length - dashes - length };
	if (!ret->length) {
		ret->text = NULL;
		return true;
	}
	if (*ret->text != '=')
		return false;
	ret->text++;
	ret->length--;
	return true;
}

bool vm_command_next_option(const struct vm_command *command, const char *option, size_t *offset,
			    struct vm_span *ret)
{
	struct vm_span argument, value;

	if (!*offset)
		vm_command_next(command, offset, &argument);
	while (vm_command_next(command, offset, &argument)) {
		if (!match_option(argument, option, &value))
			continue;
		if (!value.text && !vm_command_next(command, offset, &value))
			return false;
		*ret = value;
		return true;
	}
	return false;
}

/* The end of the first property in LIST: a comma, but two of them stand for one in the value. */
static size_t property_length(struct vm_span list)
{
	size_t i = 0;

	while (i < list.length && list.text[i] != ',')
		i++;
	while (i + 1 < list.length && list.text[i + 1] == ',') {
		i += 2;
		while (i < list.length && list.text[i] != ',')
			i++;
	}
	return i < list.length ? i : list.length;
}

bool vm_property_next(struct vm_span *list, struct vm_property *ret)
{
	const char *equals;
	size_t length;

	if (!list->text)
		return false;
	length = property_length(*list);
	equals = memchr(list->text, '=', length);
	*ret = (struct vm_property){ .key = { list->text, length } };
	if (equals) {
		ret->key.length = equals - list->text;
		ret->value = (struct vm_span){ equals + 1, length - ret->key.length - 1 };
	}
	if (length < list->length)
		*list = (struct vm_span){ list->text + length + 1, list->length - length - 1 };
	else
		*list = (struct vm_span){ 0 };
	return true;
}

bool vm_span_is(struct vm_span span, const char *text)
{
	return span.length == strlen(text) && !memcmp(span.text, text, span.length);
}

char *vm_property_text(struct vm_span value)
{
	char *text = memory_strndup(value.text, value.length);
	size_t length = 0;

	for (size_t i = 0; i < value.length; i++) {
		text[length++] = value.text[i];
		if (value.text[i] == ',')
			i++;
	}
	text[length] = 0;
	return text;
}
