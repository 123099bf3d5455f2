/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address decides: see the header. */
#include "perfdata/guest_mode.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define VSYSCALL_START 0xffffffffff600000ull
#define VSYSCALL_END 0xffffffffff601000ull

static bool is_guest(uint16_t misc)
{
	unsigned cpumode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return cpumode == PERF_RECORD_MISC_GUEST_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_USER;
}

static bool is_vsyscall(uint64_t ip)
{
	return ip >= VSYSCALL_START && ip < VSYSCALL_END;
}

bool perfdata_guest_mode_is_high(uint16_t misc, uint64_t ip)
{
	return is_guest(misc) && ip >> 63 && !is_vsyscall(ip);
}

uint16_t perfdata_guest_mode_at(uint16_t misc, uint64_t ip, bool high_kernel)
{
	uint16_t rest = misc & ~PERF_RECORD_MISC_CPUMODE_MASK;

	if (perfdata_guest_mode_is_high(misc, ip))
		return rest | PERF_RECORD_MISC_GUEST_KERNEL;
	if (is_guest(misc) && !is_vsyscall(ip) && high_kernel)
		return rest | PERF_RECORD_MISC_GUEST_USER;
	return misc;
}

bool perfdata_guest_mode_doubtful(const char *release, const char *machine)
{
	unsigned major, minor;

	if (!release || !machine || strcmp(machine, "x86_64") ||
	    sscanf(release, "%4u.%4u", &major, &minor) != 2)
		return false;
	return (major == 5 && minor >= 17) || (major == 6 && minor <= 8);
}
