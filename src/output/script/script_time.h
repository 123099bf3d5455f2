/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a sample or another record was taken, and in which mode, as perf script prints it: the
 * fields misc, tod and time (tools/perf/builtin-script.c, perf_sample__fprintf_start()).
 */
#ifndef OUTPUT_SCRIPT_TIME_H
#define OUTPUT_SCRIPT_TIME_H

#include "output/script/script_text.h"

#define SCRIPT_MOMENT (SCRIPT_MISC | SCRIPT_TOD | SCRIPT_TIME)
#define SCRIPT_MOMENT_BYTES 128 /* what script_put_moment() writes at most */

struct script_times {
	enum script_time shown;
	bool nanoseconds;
	uint64_t before;     /* the time that RELATIVE and DELTA subtract; 0: none yet */
	uint64_t day_offset; /* the time of day minus the recording's time, in ns */
	uint64_t day_second; /* since 1970, local time is in day_text */
	char day_text[32];   /* "" at first */
};

/* Fails if FIELDS has the time of day, and the recording does not. */
struct error *script_times_init(struct script_times *times, const struct session *session,
				const struct script_fields *fields, bool time_of_day) MUST_CHECK;
/*
 * Writes those of FIELDS at AT and returns their end. TYPE, MISC: of the record (perf_event.h).
 */
char *script_put_moment(struct script_times *times, char *at, uint32_t type, uint16_t misc,
			uint64_t time_ns, uint32_t fields);

#endif
