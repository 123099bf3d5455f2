/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"

static bool parse_number(const char **at, uint64_t *ret)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 10);
	*at = end;
	return !errno;
}

bool ranges_parse(const char *text, struct ranges *ret)
{
	for (;; text++) {
		struct range range;

		if (!parse_number(&text, &range.first))
			return false;
		range.last = range.first;
		if (*text == '-' && (text++, !parse_number(&text, &range.last)))
			return false;
		if (range.last < range.first)
			return false;
		vector_append(ret, range);
		if (*text != ',')
			return !*text;
	}
}

bool ranges_admit(const struct ranges *ranges, uint64_t value)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (value >= ranges->items[i].first && value <= ranges->items[i].last)
			return true;
	return !ranges->count;
}
