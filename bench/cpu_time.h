/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time, so that other work on the machine does not count. */
#ifndef CPU_TIME_H
#define CPU_TIME_H

#include <stdint.h>
#include <time.h>

static inline uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif
