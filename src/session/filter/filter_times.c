/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The language of perf's --time (tools/perf/util/time-utils.c). A range has both its ends in it; so
 * that parts of the whole do not overlap, one of percents ends a nanosecond before the next begins.
 */
#include "session/filter/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NS_PER_SECOND 1000000000ULL

/* Seconds, with at most nine digits behind the point. */
static bool parse_seconds(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds = 0, ns = 0;

	if (!*text || *text == '.')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(seconds, 10, &seconds) ||
		    __builtin_add_overflow(seconds, *text - '0', &seconds))
			return false;
	if (*text == '.') {
		uint64_t unit = NS_PER_SECOND;

		for (text++; *text >= '0' && *text <= '9' && (unit /= 10); text++)
			ns += (*text - '0') * unit;
	}
	return !*text && !__builtin_mul_overflow(seconds, NS_PER_SECOND, &seconds) &&
	       !__builtin_add_overflow(seconds, ns, ret_ns);
}

/* "START,END", one of which may be left out. */
static bool parse_interval(char *text, struct range *ret)
{
	char *start = strsep(&text, ",");

	*ret = (struct range){ .last = UINT64_MAX };
	return text && (*start || *text) && (!*start || parse_seconds(start, &ret->first)) &&
	       (!*text || parse_seconds(text, &ret->last)) && ret->first <= ret->last;
}

static bool parse_intervals(char *text, struct ranges *ret)
{
	char *word;

	while ((word = strsep(&text, " \t"))) {
		struct range range;

		if (!*word)
			continue;
		if (!parse_interval(word, &range) ||
		    (ret->count && ret->items[ret->count - 1].last >= range.first))
			return false;
		vector_append(ret, range);
	}
	return ret->count;
}

/* "20%" is 0.2. */
static bool parse_share(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end) / 100;
	return end != text && !strcmp(end, "%") && *ret >= 0 && *ret <= 1;
}

/* "10%-20%", or "10%/2": the second tenth, or "10%": the first. */
static bool parse_shares(char *text, double *ret_start, double *ret_end)
{
	char *dash = strchr(text, '-'), *slash = strchr(text, '/'), *end;
	unsigned long part = 1;

	if (dash && !slash) {
		*dash = 0;
		return parse_share(text, ret_start) && parse_share(dash + 1, ret_end);
	}
	if (slash) {
		*slash = 0;
		part = strtoul(slash + 1, &end, 10);
		if (end == slash + 1 || *end || !part || part > 1000000)
			return false;
	}
	if (!parse_share(text, ret_end) || !*ret_end)
		return false;
	*ret_start = *ret_end * (part - 1);
	*ret_end *= part;
	return *ret_end <= 1 + 1e-9;
}

static bool parse_percents(char *text, const struct filter_span *span, struct ranges *ret)
{
	uint64_t all = span->last_ns - span->first_ns;
	char *word;

	while ((word = strsep(&text, ","))) {
		struct range range;
		double start, end;

		if (!parse_shares(word, &start, &end) || start > end)
			return false;
		range.first = span->first_ns + (uint64_t)(start * all + 0.5);
		range.last = span->first_ns + (uint64_t)(end * all + 0.5);
		if (range.last >= span->last_ns)
			range.last = span->last_ns;
		else if (range.last > range.first)
			range.last--;
		vector_append(ret, range);
	}
	return true;
}

bool filter_parse_times(const char *text, const struct filter_span *span,
			struct ranges *ret)
{
	_cleanup_free_ char *copy = memory_strdup(text);

	return strchr(copy, '%') ? parse_percents(copy, span, ret) : parse_intervals(copy, ret);
}

struct filter_span filter_find_span(struct session *session)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);
	struct filter_span span = { features->first_sample_ns, features->last_sample_ns };
	struct session_sample sample;

	if (span.last_ns)
		return span;
	span.first_ns = UINT64_MAX;
	session_rewind(session);
	while (session_next_plain(session, &sample) == PERFDATA_RECORD) {
		uint64_t time_ns = sample.decoded.sample.time_ns;

		if (!sample.valid)
			continue;
		span.first_ns = time_ns < span.first_ns ? time_ns : span.first_ns;
		span.last_ns = time_ns > span.last_ns ? time_ns : span.last_ns;
	}
	return span;
}
