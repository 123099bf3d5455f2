/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes perf.data in the file form, as perf writes it, so that stock perf reads it:
 * header, attrs with their ids, the records, then the features.
 *
 *	perfdata_writer_create(path, events, count, &writer);   an older file becomes PATH.old
 *	perfdata_writer_append(writer, bytes, size) …           whole records
 *	perfdata_writer_flush(writer)                           the file is readable up to here
 *	perfdata_writer_finish(writer, &features)               features, own sections
 *	perfdata_writer_destroy(writer)
 *
 * After each flush the header on disk covers all records so far, so that a recorder that
 * is killed leaves a file that perf and perfvisor read (without features).
 *
 * All events must have the same read_format, sample_id_all = 1 and a sample_type that
 * holds PERF_SAMPLE_IDENTIFIER, and that has the time, if any, at the same place: the same of
 * PERF_SAMPLE_IP, TID and TIME.
 *
 * After a failure (a full disk), what was flushed is in the file and what is pending is kept:
 * the call can be tried again. Nothing may be appended behind perfdata_writer_finish().
 *
 * What stock perf (6.1, read and tried) makes of the guests:
 * - ID_INDEX makes a machine of each machine_pid; guest samples (cpumode GUEST_KERNEL, _USER)
 *   of its ids are that machine's. None is dropped, with no record more than that: they are in
 *   `perf report`, `perf script -F +machine_pid,vcpu` and `perf kvm --guest report`.
 * - Their kernel symbols: not with --guestkallsyms, which holds for samples WITHOUT a
 *   machine_pid alone. With --guestmount=DIR from DIR/PID/proc/kallsyms, which every
 *   machine_pid in the file must have there, and only where an MMAP2 of misc GUEST_KERNEL,
 *   that pid, start, length and file_offset 0, and path "[guest.kernel.kallsyms.PID]" says
 *   that there is a guest kernel. Without --guestmount perf then takes the symbols of the
 *   kernel that perf runs on, silently: false names. So that record belongs in no file that
 *   may be read without the option; without the record the addresses stay unnamed.
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perfdata/attr.h"
#include "perfdata/inventory.h"

struct perfdata_writer;

/*
 * An older file at PATH becomes PATH.old (an empty one goes). What is there and is not a
 * regular file (a folder, a device, a link to one) is an error and stays as it is. The file
 * is readable by its owner alone, as perf's are.
 *
 * EVENTS are copied. Ids may also be added later: room for MAX_IDS ids per event is left in the
 * header's id sections (vCPUs that appear while recording).
 */
struct error *perfdata_writer_create(const char *path, const struct perfdata_event *events,
				     size_t event_count, size_t max_ids,
				     struct perfdata_writer **ret) MUST_CHECK;
void perfdata_writer_destroy(struct perfdata_writer *writer); /* takes NULL; closes the file */

/*
 * Makes the folder PATH for a recording; what was there becomes PATH.old, in place of a recording
 * of that name. *RET_FILE, to be freed, is the path for perfdata_writer_create().
 */
struct error *perfdata_directory_create(const char *path, char **ret_file) MUST_CHECK;

/*
 * A new id for event EVENT_INDEX (unique in the file, chosen by the writer), with an ID_INDEX
 * record in the stream that gives its machine_pid and vcpu by perf's own means. SPEC's id is
 * ignored.
 */
struct error *perfdata_writer_add_id(struct perfdata_writer *writer, size_t event_index,
				     const struct perfdata_id *spec, uint64_t *ret_id) MUST_CHECK;

/*
 * One or more whole records, buffered; fails only when the disk does (or a record's size is
 * impossible). Takes the times of the first and the last sample from them.
 */
struct error *perfdata_writer_append(struct perfdata_writer *writer, const void *records,
				     size_t size) MUST_CHECK;
/*
 * PERF_RECORD_FINISHED_ROUND: every record after it is no older than the newest one before
 * the previous round's end (perf's ordered-events rule): call it once per pass over all rings.
 */
struct error *perfdata_writer_round(struct perfdata_writer *writer) MUST_CHECK;

/* PERF_RECORD_COMM / MMAP2 / THREAD_MAP-like records with their sample_id trailer. */
struct error *perfdata_writer_comm(struct perfdata_writer *writer, uint32_t pid, uint32_t tid,
				   const char *comm, uint64_t time_ns) MUST_CHECK;
/*
 * A mapping. Of the host's kernel, for perf to name host kernel samples (and not to warn that
 * it cannot): pid UINT32_MAX, misc KERNEL, path "[kernel.kallsyms]_text", start and
 * file_offset both the address of _text, length up to _etext.
 */
struct perfdata_mapping {
	uint32_t pid, tid;
	uint64_t start, length, file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;
	uint16_t misc; /* cpumode: PERF_RECORD_MISC_KERNEL, _USER, _GUEST_KERNEL … */
	const char *path;
	const uint8_t *build_id; /* NULL: none (an inode is written instead) */
	uint8_t build_id_bytes;
};
struct error *perfdata_writer_mmap2(struct perfdata_writer *writer,
				    const struct perfdata_mapping *mapping,
				    uint64_t time_ns) MUST_CHECK;
/*
 * The same of a thread or process inside the guest of MACHINE_PID: pid and tid are the guest's,
 * paths too. Samples of that guest with this pid and tid are this thread's, for stock perf and
 * for perfvisor. The guest needs an id of its own (perfdata_writer_add_id) before; the record
 * carries the first of them, which is what ties it to the guest.
 *
 * Where samples carry the vCPU thread's pid and tid, stock perf wants the comm of that thread
 * here, too, beside perfdata_writer_comm(): it keeps each guest's threads apart from the
 * host's, and shows ":TID" where it has not met this.
 */
struct error *perfdata_writer_guest_comm(struct perfdata_writer *writer, uint32_t machine_pid,
					 uint32_t pid, uint32_t tid, const char *comm,
					 uint64_t time_ns) MUST_CHECK;
/* MAPPING's misc is GUEST_USER; a path without a file as the guest's /proc/PID/maps has it. */
struct error *perfdata_writer_guest_mmap2(struct perfdata_writer *writer, uint32_t machine_pid,
					  const struct perfdata_mapping *mapping,
					  uint64_t time_ns) MUST_CHECK;
/*
 * PERF_RECORD_FORK: from now on the guest's PID is another process, of which nothing is mapped
 * yet (its comm and mappings follow): a pid that is used again, a program that another replaced.
 */
struct error *perfdata_writer_guest_process(struct perfdata_writer *writer, uint32_t machine_pid,
					    uint32_t pid, uint32_t parent_pid,
					    uint64_t time_ns) MUST_CHECK;
/* PERF_RECORD_FORK of this machine's; exec: the parent's mappings are not the child's. */
struct perfdata_fork {
	uint32_t pid, parent_pid, tid, parent_tid;
	bool exec;
};
struct error *perfdata_writer_fork(struct perfdata_writer *writer, const struct perfdata_fork *fork,
				   uint64_t time_ns) MUST_CHECK;
/* PERF_RECORD_LOST: COUNT samples of ID did not make it. */
struct error *perfdata_writer_lost(struct perfdata_writer *writer, uint64_t id, uint64_t count,
				   uint64_t time_ns) MUST_CHECK;

struct error *perfdata_writer_flush(struct perfdata_writer *writer) MUST_CHECK;
uint64_t perfdata_writer_bytes(const struct perfdata_writer *writer); /* of the file as it is */

struct perfdata_writer_build_id {
	const char *path;
	const uint8_t *bytes;
	uint8_t size;
	uint16_t misc;
	uint32_t pid; /* machine pid; UINT32_MAX for the host */
};
/*
 * A table of guest symbols. A kernel's holds for samples of [from_ns, until_ns), until_ns 0: to
 * the end: a guest that reboots or loads a module has several, of which the last that holds
 * counts. A file's is found by machine_pid, path and build-id; its addresses are file offsets.
 */
struct perfdata_writer_symbols {
	uint32_t machine_pid; /* 0: every guest */
	const void *data;
	size_t size;
	enum perfdata_symbols_kind kind;
	uint64_t from_ns, until_ns; /* of a kernel; 0, 0: always */
	const char *path;	    /* of a file in the guest */
	const uint8_t *build_id;
	uint8_t build_id_bytes; /* 0: not known; at most PERFDATA_BUILD_ID_BYTES */
};
/* Which machine was recorded; NULL and 0: not known, the file says nothing of it. */
struct perfdata_writer_machine {
	const char *hostname, *osrelease, *arch, *cpudesc, *cpuid;
	uint32_t cpus;
	uint64_t memory_kb;
};
/* Hostname, osrelease, arch, CPUs, memory, sample time and event desc are found by the writer. */
struct perfdata_writer_features {
	const struct perfdata_writer_machine *machine; /* NULL: the one that this runs on */
	int argc;
	char *const *argv; /* the command line */
	const struct perfdata_writer_build_id *build_ids;
	size_t build_id_count;
	const void *tracing_data; /* HEADER_TRACING_DATA's section, NULL without tracepoints */
	size_t tracing_data_bytes;
	const struct perfdata_inventory *inventory;
	const struct perfdata_writer_symbols *symbols;
	size_t symbols_count;
};
struct error *perfdata_writer_finish(struct perfdata_writer *writer,
				     const struct perfdata_writer_features *features) MUST_CHECK;

DEFINE_CLEANUP(cleanup_perfdata_writer, struct perfdata_writer *, perfdata_writer_destroy)
#define _cleanup_perfdata_writer_ _cleanup_(cleanup_perfdata_writer)

#endif
