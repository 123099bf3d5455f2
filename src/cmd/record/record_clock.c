/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of the recording's times: names, numbers and the prefix CLOCK_ as in perf
 * (tools/perf/util/clockid.c).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/record/record.h"

#define NS_PER_SECOND 1000000000ull

static const struct {
	const char *name;
	int id;
} clocks[] = {
	{ "monotonic", CLOCK_MONOTONIC },
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
	{ "realtime", CLOCK_REALTIME },
	{ "boottime", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
	/* perf's short forms */
	{ "mono", CLOCK_MONOTONIC },
	{ "raw", CLOCK_MONOTONIC_RAW },
	{ "real", CLOCK_REALTIME },
	{ "boot", CLOCK_BOOTTIME },
};

struct error *record_take_clock(struct record_options *options)
{
	const char *name = options->clock;
	char *end;
	long number = strtol(name, &end, 10);
	bool is_number = end != name && !*end;

	if (!strncasecmp(name, "CLOCK_", strlen("CLOCK_")))
		name += strlen("CLOCK_");
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		if (is_number ? clocks[i].id != number : strcasecmp(clocks[i].name, name) != 0)
			continue;
		options->clock_id = clocks[i].id;
		return NULL;
	}
	return error_create(ERROR_USAGE,
			    "--clockid takes monotonic, monotonic_raw, realtime, boottime or tai, "
			    "not '%s'", options->clock);
}

static uint64_t read_ns(int clock_id)
{
	struct timespec time = { 0 };

	clock_gettime(clock_id, &time);
	return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

struct perfdata_writer_clock record_read_clock(int clock_id)
{
	struct timespec resolution = { .tv_nsec = 1 };

	clock_getres(clock_id, &resolution);
	return (struct perfdata_writer_clock){
		.id = clock_id,
		.resolution_ns = resolution.tv_sec * NS_PER_SECOND + resolution.tv_nsec,
		.wall_ns = read_ns(CLOCK_REALTIME),
		.clock_ns = read_ns(clock_id),
	};
}
