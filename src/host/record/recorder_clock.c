/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times in the file may be of another clock (-k). Samples are taken, and everything else is done,
 * by CLOCK_MONOTONIC: it is the only one that BPF programs have on all kernels, and that the kernel
 * has for hardware events besides CLOCK_MONOTONIC_RAW (perf_event_set_clock() in
 * kernel/events/core.c). So times are converted on their way into the file, by the difference of
 * the clocks at the beginning of the round. Within a round, the clocks may part by what NTP
 * changes: 500 ppm at most, some microseconds usually.
 */
#include <time.h>

#include "host/record/recorder_state.h"

#define READS 5

static int64_t read_ns(int clock_id)
{
	struct timespec time = { 0 };

	clock_gettime(clock_id, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

void recorder_read_clock(struct recorder *recorder)
{
	int64_t shortest = INT64_MAX;

	if (recorder->config.clock_id == CLOCK_MONOTONIC)
		return;
	/* The read that took least time is the best one. */
	for (int i = 0; i < READS; i++) {
		int64_t before = read_ns(CLOCK_MONOTONIC);
		int64_t its = read_ns(recorder->config.clock_id);
		int64_t after = read_ns(CLOCK_MONOTONIC);

		if (after - before >= shortest)
			continue;
		shortest = after - before;
		recorder->clock_shift_ns = its - (before + (after - before) / 2);
	}
	perfdata_writer_shift_times(recorder->writer, recorder->clock_shift_ns);
}
