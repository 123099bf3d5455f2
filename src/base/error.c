/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors as values: a code, a line of text and an optional hint. See error.h for the contract. */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

struct error {
	enum error_code code;
	char *message;
	char *hint;
};

static struct error *error_from_text(enum error_code code, char *message)
{
	struct error *error = memory_calloc(1, sizeof(*error));

	error->code = code;
	error->message = message;
	return error;
}

struct error *error_create(enum error_code code, const char *format, ...)
{
	va_list arguments;
	char *message;

	va_start(arguments, format);
	message = memory_vprintf(format, arguments);
	va_end(arguments);
	return error_from_text(code, message);
}

static enum error_code code_of_errno(int errno_value)
{
	switch (errno_value) {
	case EPERM:
	case EACCES:
		return ERROR_PERMISSION;
	case ENOENT:
	case ESRCH:
		return ERROR_NOT_FOUND;
	default:
		return ERROR_SYSTEM;
	}
}

struct error *error_system(int errno_value, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = memory_vprintf(format, arguments);
	va_end(arguments);
	return error_from_text(code_of_errno(errno_value),
			       memory_printf("%s: %s", text, strerror(errno_value)));
}

struct error *error_prefix(struct error *cause, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *old = cause->message;
	va_list arguments;

	va_start(arguments, format);
	text = memory_vprintf(format, arguments);
	va_end(arguments);
	cause->message = memory_printf("%s: %s", text, old);
	return cause;
}

struct error *error_hint(struct error *error, const char *format, ...)
{
	va_list arguments;

	if (error->hint)
		return error;
	va_start(arguments, format);
	error->hint = memory_vprintf(format, arguments);
	va_end(arguments);
	return error;
}

void error_destroy(struct error *error)
{
	if (!error)
		return;
	free(error->message);
	free(error->hint);
	free(error);
}

enum error_code error_code(const struct error *error)
{
	return error->code;
}

const char *error_message(const struct error *error)
{
	return error->message;
}

const char *error_hint_text(const struct error *error)
{
	return error->hint;
}
