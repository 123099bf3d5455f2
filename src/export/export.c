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
	{ "pprof", "pprof's gzipped protobuf, for go tool pprof and what reads its files",
	  export_pprof },
	{ "speedscope", "JSON for speedscope.app, a profile for each VM", export_speedscope },
	{ "json", "all stacks, with whose they are, for scripts", export_json },
	{ "csv", "the same as a table, a line for each stack", export_csv },
	{ 0 },
};

const struct export_format *export_find_format(const char *name)
{
	for (const struct export_format *format = export_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}
