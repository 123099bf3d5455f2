/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints samples one by one, in the format of `perf script`, so that programs that read its output
 * (stackcollapse-perf.pl and others) can read ours.
 */
#ifndef OUTPUT_SCRIPT_TEXT_H
#define OUTPUT_SCRIPT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "session/filter/filter.h"
#include "session/session.h"

enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_TID = 1 << 1,
	SCRIPT_PID = 1 << 2,
	SCRIPT_TIME = 1 << 3,
	SCRIPT_CPU = 1 << 4,
	SCRIPT_EVENT = 1 << 5,
	SCRIPT_TRACE = 1 << 6,
	SCRIPT_IP = 1 << 7,
	SCRIPT_SYMBOL = 1 << 8,
	SCRIPT_DSO = 1 << 9,
	SCRIPT_OFFSET = 1 << 10,
	SCRIPT_PERIOD = 1 << 11,
	SCRIPT_MACHINE_PID = 1 << 12,
	SCRIPT_VCPU = 1 << 13,
	SCRIPT_ADDR = 1 << 14,
	SCRIPT_DATA_SRC = 1 << 15,
	SCRIPT_WEIGHT = 1 << 16,
	SCRIPT_INS_LAT = 1 << 17,
	SCRIPT_IREGS = 1 << 18,
	SCRIPT_UREGS = 1 << 19,
	SCRIPT_BRSTACK = 1 << 20,
	SCRIPT_BRSTACKSYM = 1 << 21,
	SCRIPT_PHYS_ADDR = 1 << 22,
	SCRIPT_DATA_PAGE_SIZE = 1 << 23,
	SCRIPT_CODE_PAGE_SIZE = 1 << 24,
	SCRIPT_CGROUP = 1 << 25,
	SCRIPT_SOURCE = 1 << 26,
	SCRIPT_MISC = 1 << 27,
	SCRIPT_TOD = 1 << 28,
};

/* How times are shown: as they were recorded, since the first one, or since the one before. */
enum script_time { SCRIPT_TIME_RECORDED, SCRIPT_TIME_RELATIVE, SCRIPT_TIME_DELTA };

/* Which fields are printed of samples of one kind of event. */
struct script_choice {
	bool set;      /* only these fields; else perf's defaults for the kind of event … */
	uint32_t only;
	uint32_t more, less; /* … plus these, and minus these */
};

/* PERF_TYPE_* up to PERF_TYPE_BREAKPOINT; the last is of all others. */
#define SCRIPT_KINDS 7

struct script_fields {
	struct script_choice kinds[SCRIPT_KINDS];
	enum script_time time;
	bool nanoseconds; /* of times, else microseconds */
	bool no_chains;   /* samples are shown as if they had no call chain */
	uint32_t records;    /* records other than samples: a bit for each type, PERF_RECORD_* */
	bool inlined;	     /* show functions that are inlined at a chain's addresses */
	size_t max_stack;    /* innermost frames of a chain; 0: as many as in perf, 127 */
};

/*
 * Parses perf's words, separated by commas, into FIELDS. Either all have a + or - in front, or
 * none. With hw:, sw:, trace:, raw: or break: before the first, they are of such events alone.
 */
struct error *script_fields_parse(const char *text, struct script_fields *fields) MUST_CHECK;

struct script_counts {
	uint64_t samples, left_out; /* that were read; of them: that the filter left out */
};

/*
 * Writes the samples of SESSION that FILTER takes (NULL: all) to descriptor FD, ordered by time.
 * RET_COUNTS is set after an error, too.
 */
struct error *script_text_write(int fd, struct session *session, const struct script_fields *fields,
				const struct filter *filter,
				struct script_counts *ret_counts) MUST_CHECK;

#endif
