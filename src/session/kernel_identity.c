/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kernel the host ran, by all that a recording says of it: the header's list of build-ids
 * (tools/perf/util/header.c, __event_process_build_id(): what is listed in kernel mode and is no
 * module is the kernel), the kernel's own MMAP2 record (perf record --buildid-mmap), release and
 * machine of the header, the size of its code.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "session/session.h"

#define KERNEL_PREFIX "[kernel."

/* kmod_path__parse_name() of tools/perf/util/dso.c */
static bool is_module(const char *path)
{
	const char *base = strrchr(path, '/'), *suffix;

	if (path[0] == '[')
		return strncmp(path, KERNEL_PREFIX, strlen(KERNEL_PREFIX)) != 0;
	suffix = strstr(base ? base : path, ".ko");
	return suffix && (!suffix[3] || suffix[3] == '.');
}

static bool has_bytes(const struct perfdata_build_id *build_id)
{
	for (size_t i = 0; i < build_id->size; i++)
		if (build_id->bytes[i])
			return true;
	return false;
}

static bool is_kernel(const struct perfdata_build_id *build_id)
{
	return (build_id->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL &&
	       !is_module(build_id->path) && has_bytes(build_id);
}

/* The kernel's entry; NULL for none. The one that perf gives the kernel's own name comes first. */
static const struct perfdata_build_id *find_listed(const struct perfdata_features *features)
{
	const struct perfdata_build_id *found = NULL;

	for (size_t i = 0; i < features->build_id_count; i++) {
		const struct perfdata_build_id *entry = &features->build_ids[i];

		if (is_kernel(entry) && (!found || entry->path[0] == '['))
			found = entry;
	}
	return found;
}

void session_identify_kernel(struct session *session, struct dso_request *ret)
{
	const struct perfdata_features *features = perfdata_reader_features(session->reader);
	const struct perfdata_build_id *listed = find_listed(features);

	*ret = (struct dso_request){ .path = "[kernel.kallsyms]",
				     .reference = session->kernel_reference,
				     .text_bytes = session->kernel_bytes,
				     .release = features->osrelease,
				     .machine = features->arch };
	if (session->kernel_path)
		ret->path = intern_string(session->strings, session->kernel_path);
	if (listed) {
		ret->build_id = listed->bytes;
		ret->build_id_bytes = listed->size;
	} else if (session->kernel_build_id_bytes) {
		ret->build_id = session->kernel_build_id;
		ret->build_id_bytes = session->kernel_build_id_bytes;
	}
}
