/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the host's addresses in a recording, as perf synthesizes them: the kernel and its
 * modules, executable mappings of processes, and names of threads.
 */
#ifndef HOST_RECORD_HOST_MAPS_H
#define HOST_RECORD_HOST_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf_client.h"
#include "host/system/kernel_symbols.h"
#include "perfdata/writer/writer.h"

/* The files seen so far with their build-ids; also used for HEADER_BUILD_ID. */
struct host_maps;

/* ELF, which is borrowed, is asked for build-ids; NULL if no process will be written. */
struct host_maps *host_maps_create(struct elf_client *elf);
void host_maps_destroy(struct host_maps *maps); /* takes NULL */

/*
 * Writes "[kernel.kallsyms]_text" and the modules; nothing if addresses are hidden (kptr_restrict).
 */
struct error *host_maps_write_kernel(struct host_maps *maps, struct perfdata_writer *writer,
				     const struct host_kernel_symbols *symbols) MUST_CHECK;
/* Writes the executable mappings of process PID; nothing if it is gone. */
struct error *host_maps_write_process(struct host_maps *maps, struct perfdata_writer *writer,
				      uint32_t pid) MUST_CHECK;
/*
 * Writes the name of thread TID of PID (of the process if both are the same); nothing if it is
 * gone.
 */
struct error *host_maps_write_comm(struct perfdata_writer *writer, uint32_t pid,
				   uint32_t tid) MUST_CHECK;

/* The kernel of the guest of the VMM PID is that build; adding it again does nothing. */
void host_maps_add_guest_kernel(struct host_maps *maps, uint32_t pid, const uint8_t *build_id,
				size_t bytes);

/* Borrowed; valid until the next call with MAPS. */
const struct perfdata_writer_build_id *host_maps_build_ids(struct host_maps *maps,
							   size_t *ret_count);

DEFINE_CLEANUP(cleanup_host_maps, struct host_maps *, host_maps_destroy)
#define _cleanup_host_maps_ _cleanup_(cleanup_host_maps)

#endif
