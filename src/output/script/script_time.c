/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/script/script_time.h"

#include <linux/perf_event.h>
#include <string.h>
#include <time.h>

#include "output/script/script_number.h"

#define NS_PER_S 1000000000ULL
#define MISC_WIDTH 6

struct error *script_times_init(struct script_times *times, const struct session *session,
				const struct script_fields *fields, bool time_of_day)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);

	*times = (struct script_times){ .shown = fields->time,
					.nanoseconds = fields->nanoseconds };
	if (!time_of_day)
		return NULL;
	if (!features->has_clock)
		return error_hint(error_create(ERROR_UNSUPPORTED,
					       "the recording does not say which time of day its "
					       "times are: field 'tod' cannot be printed"),
				  "record with -k CLOCK_MONOTONIC");
	times->day_offset = features->clock_day_ns - features->clock_ns;
	return NULL;
}

/* Each letter stands for all bits of its mode, so that a mode may have several, as in perf. */
static char *put_misc(char *at, uint32_t type, uint16_t misc)
{
	static const struct {
		uint16_t bits;
		char letter;
	} modes[] = {
		{ PERF_RECORD_MISC_KERNEL, 'K' },	{ PERF_RECORD_MISC_USER, 'U' },
		{ PERF_RECORD_MISC_HYPERVISOR, 'H' },	{ PERF_RECORD_MISC_GUEST_KERNEL, 'G' },
		{ PERF_RECORD_MISC_GUEST_USER, 'g' },
	};
	char *start = at;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if ((misc & modes[i].bits) == modes[i].bits)
			*at++ = modes[i].letter;
	if ((type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2) &&
	    (misc & PERF_RECORD_MISC_MMAP_DATA))
		*at++ = 'M';
	if (type == PERF_RECORD_COMM && (misc & PERF_RECORD_MISC_COMM_EXEC))
		*at++ = 'E';
	if ((type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE) &&
	    (misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		*at++ = 'S';
		if (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
			*at++ = 'p';
	}
	do
		*at++ = ' ';
	while (at < start + MISC_WIDTH);
	return at;
}

static char *put_fraction(char *at, uint64_t ns, bool nanoseconds)
{
	*at++ = '.';
	return nanoseconds ? put_padded(at, ns, 9, '0') : put_padded(at, ns / 1000, 6, '0');
}

static char *put_day(struct script_times *times, char *at, uint64_t time_ns)
{
	uint64_t day_ns = time_ns + times->day_offset;
	time_t second = day_ns / NS_PER_S;
	struct tm local;

	if (!*times->day_text || times->day_second != day_ns / NS_PER_S) {
		if (!localtime_r(&second, &local) ||
		    !strftime(times->day_text, sizeof(times->day_text), "%Y-%m-%d %H:%M:%S",
			      &local))
			times->day_text[0] = 0;
		times->day_second = day_ns / NS_PER_S;
	}
	memcpy(at, times->day_text, sizeof(times->day_text));
	at += strlen(times->day_text);
	at = put_fraction(at, day_ns % NS_PER_S, times->nanoseconds);
	*at++ = ' ';
	return at;
}

/* The time as it is shown. */
static uint64_t shown_time(struct script_times *times, uint64_t time_ns)
{
	uint64_t before = times->before;

	if (times->shown == SCRIPT_TIME_RECORDED)
		return time_ns;
	if (times->shown == SCRIPT_TIME_DELTA || !before)
		times->before = time_ns;
	if (times->shown == SCRIPT_TIME_DELTA)
		return before ? time_ns - before : 0;
	return time_ns - times->before;
}

char *script_put_moment(struct script_times *times, char *at, uint32_t type, uint16_t misc,
			uint64_t time_ns, uint32_t fields)
{
	if (fields & SCRIPT_MISC)
		at = put_misc(at, type, misc);
	if (fields & SCRIPT_TOD)
		at = put_day(times, at, time_ns);
	if (fields & SCRIPT_TIME) {
		uint64_t shown = shown_time(times, time_ns);

		at = put_padded(at, shown / NS_PER_S, 5, ' ');
		at = put_fraction(at, shown % NS_PER_S, times->nanoseconds);
		*at++ = ':';
		*at++ = ' ';
	}
	return at;
}
