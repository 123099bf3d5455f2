/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export.h"

#include <string.h>

#include "export/formats.h"

const struct profile_keys export_keys = {
	.items = { PROFILE_VM, PROFILE_VCPU, PROFILE_COMM, PROFILE_PID, PROFILE_GUEST_COMM,
		   PROFILE_GUEST_PID },
	.count = 6,
};

const struct export_format export_formats[] = {
	{ "folded", "folded stacks, as perfvisor fold prints them", EXPORT_FOLDED, export_folded },
	{ "pprof", "pprof's gzipped protobuf, for go tool pprof and what reads its files",
	  EXPORT_STACKS, export_pprof },
	{ "speedscope", "JSON for speedscope.app, a profile for each VM", EXPORT_STACKS,
	  export_speedscope },
	{ "firefox", "JSON for profiler.firefox.com, a track for each vCPU, with times",
	  EXPORT_TIMES, export_firefox },
	{ "chrome", "JSON for Chrome's developer tools and what reads its traces, likewise",
	  EXPORT_TIMES, export_chrome },
	{ "json", "all stacks, with whose they are, for scripts", EXPORT_STACKS, export_json },
	{ "csv", "the same as a table, a line for each stack", EXPORT_STACKS, export_csv },
	{ 0 },
};

const struct export_format *export_find_format(const char *name)
{
	for (const struct export_format *format = export_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}
