/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What names the host's addresses in a recording, as perf synthesizes it: the kernel and its
 * modules, the executable mappings of processes, and the names of threads.
 */
#ifndef HOST_RECORD_HOST_MAPS_H
#define HOST_RECORD_HOST_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/system/kernel_symbols.h"
#include "perfdata/writer.h"

/* Files seen so far with their build-ids; also what HEADER_BUILD_ID is made of. */
struct host_maps;

struct host_maps *host_maps_create(void);
void host_maps_destroy(struct host_maps *maps); /* takes NULL */

/* "[kernel.kallsyms]_text" and the modules. Where addresses are hidden (kptr_restrict),
 * nothing is written. */
struct error *host_maps_write_kernel(struct host_maps *maps, struct perfdata_writer *writer,
				     const struct host_kernel_symbols *symbols) MUST_CHECK;
/* The executable mappings of process PID; one that is gone has none. */
struct error *host_maps_write_process(struct host_maps *maps, struct perfdata_writer *writer,
				      uint32_t pid) MUST_CHECK;
/* The name of thread TID of PID (both the same: of the process); gone: nothing. */
struct error *host_maps_write_comm(struct perfdata_writer *writer, uint32_t pid,
				   uint32_t tid) MUST_CHECK;

/* Borrowed; valid until the next call with MAPS. */
const struct perfdata_writer_build_id *host_maps_build_ids(struct host_maps *maps,
							   size_t *ret_count);

DEFINE_CLEANUP(cleanup_host_maps, struct host_maps *, host_maps_destroy)
#define _cleanup_host_maps_ _cleanup_(cleanup_host_maps)

#endif
