/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/values.h"

#include <stdlib.h>

#include "base/utf8.h"

struct error *values_percent(const char *option, const char *text, double *ret)
{
	char *end;
	double value;

	if (!text)
		return NULL;
	value = strtod(text, &end);
	if (end == text || *end || !(value >= 0) || value > 100)
		return error_create(ERROR_USAGE, "%s takes a percentage, not '%s'", option, text);
	*ret = value;
	return NULL;
}

/* A tab is a separator as good as others; the rest of the control characters steer terminals. */
struct error *values_check_separator(const char *text)
{
	if (!text || (*text && !text[1] && *text != '.' &&
		      (*text == '\t' || !utf8_steers_terminal((unsigned char)*text))))
		return NULL;
	return error_create(ERROR_USAGE, "-t takes one character other than '.', not '%s'", text);
}
