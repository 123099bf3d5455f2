/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* As perf: without a unit they are nanoseconds. */
struct error *values_time_quantum(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "", 1 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 },
		      { "s", 1000000000 } };
	uint64_t value;
	char *end;

	if (!text)
		return NULL;
	errno = 0;
	value = strtoull(text, &end, 10);
	for (size_t i = 0; *text >= '0' && *text <= '9' && !errno && i < 5; i++)
		if (!strcmp(end, units[i].unit) && value &&
		    !__builtin_mul_overflow(value, units[i].ns, ret_ns))
			return NULL;
	return error_create(ERROR_USAGE, "--time-quantum takes a time such as 100ms, not '%s'",
			    text);
}

struct error *values_percentage(const char *word, bool *ret_absolute)
{
	*ret_absolute = word && !strcmp(word, "absolute");
	if (!word || *ret_absolute || !strcmp(word, "relative"))
		return NULL;
	return error_create(ERROR_USAGE, "--percentage takes relative or absolute, not '%s'", word);
}

/* A tab is a separator as good as others; the rest of the control characters steer terminals. */
struct error *values_check_separator(const char *text)
{
	if (!text || (*text && !text[1] && *text != '.' &&
		      (*text == '\t' || !utf8_steers_terminal((unsigned char)*text))))
		return NULL;
	return error_create(ERROR_USAGE, "-t takes one character other than '.', not '%s'", text);
}
