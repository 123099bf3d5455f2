/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes perf.data in the file form or the pipe form, like perf, so that stock perf can read it:
 * header, attrs with their ids, the records, then the features.
 *
 *	perfdata_writer_create(path, events, count, &writer);
 *	perfdata_writer_begin(writer, &features)                what is known before any sample
 *	perfdata_writer_append(writer, bytes, size) …           complete records
 *	perfdata_writer_inventory(), _symbols(), _build_ids()   what names need, when it is known
 *	perfdata_writer_flush(writer)                           the file is readable up to here;
 *	                                                        an older one becomes PATH.old
 *	perfdata_writer_finish(writer, &features)               features, own sections
 *	perfdata_writer_destroy(writer)
 *
 * After each flush, the header on disk covers all records so far. If the recorder is killed, the
 * file it leaves can be read by perf and perfvisor, with the names known until then. Within about
 * half a second it is also on the disk.
 *
 * All events must have the same read_format (but for PERF_FORMAT_GROUP, of the events of a group
 * whose leader has PERF_SAMPLE_READ), sample_id_all = 1 and a sample_type with
 * PERF_SAMPLE_IDENTIFIER. The time, if any, must be at the same position: they must have the same
 * of PERF_SAMPLE_IP, TID and TIME.
 *
 * After a failure (a full disk), flushed data is in the file and pending data is kept: the call can
 * be repeated. Nothing may be appended after perfdata_writer_finish().
 *
 * How stock perf (6.1, from its source and by trying it) handles the guests:
 * - ID_INDEX creates a machine for each machine_pid; guest samples (cpumode GUEST_KERNEL, _USER)
 *   with its ids belong to that machine. No other record is needed, and none is dropped: they show
 *   up in `perf report`, `perf script -F +machine_pid,vcpu` and `perf kvm --guest report`.
 * - Their kernel symbols do not come from --guestkallsyms, which only applies to samples WITHOUT a
 *   machine_pid. With --guestmount=DIR, they come from DIR/PID/proc/kallsyms, which must exist for
 *   every machine_pid in the file, but only if there is an MMAP2 record with misc GUEST_KERNEL,
 *   that pid, start, length and file_offset 0, and path "[guest.kernel.kallsyms.PID]", which
 *   announces a guest kernel. Without --guestmount, perf then silently uses the symbols of the
 *   kernel that perf runs on, which are wrong. So a file that may be read without the option must
 *   not have this record; without it, the addresses stay unnamed.
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
 * With the first flush, an older file at PATH is renamed to PATH.old (an empty one is deleted), and
 * the new one appears. Anything there that is not a regular file (a folder, a device, a symlink to
 * one) is an error and is not touched. Only its owner can read the new file, as with perf.
 *
 * EVENTS are copied. More ids can be added later (for vCPUs that appear while recording): the
 * header's id sections have room for MAX_IDS ids per event.
 */
struct error *perfdata_writer_create(const char *path, const struct perfdata_event *events,
				     size_t event_count, size_t max_ids,
				     struct perfdata_writer **ret) MUST_CHECK;
/*
 * The pipe form into FD, which stays open. The file form's limit of ids holds, and 8,000 of each
 * event. After a failure nothing more can be written.
 */
struct error *perfdata_writer_create_pipe(int fd, const struct perfdata_event *events,
					  size_t event_count, size_t max_ids,
					  struct perfdata_writer **ret) MUST_CHECK;
void perfdata_writer_destroy(struct perfdata_writer *writer); /* takes NULL; closes the file */

/*
 * Creates the folder PATH for a recording. Anything there is renamed to PATH.old, and replaces a
 * recording with that name, which is removed last: after an error everything is where it was. A
 * folder PATH.old that holds anything else is an error. *RET_FILE, to be freed, is the path for
 * perfdata_writer_create().
 */
struct error *perfdata_directory_create(const char *path, char **ret_file) MUST_CHECK;

/*
 * The same in two steps, for a folder that is to appear at PATH only when it is complete: makes a
 * folder next to it, *RET_BESIDE, to be freed, which is readable by its owner alone; then puts it
 * at PATH (after an error it stays where it is), or removes it. Only files that recordings have, in
 * the folders where recordings have them, are ever removed.
 */
struct error *perfdata_directory_create_beside(const char *path, char **ret_beside,
					       char **ret_file) MUST_CHECK;
struct error *perfdata_directory_put(const char *beside, const char *path) MUST_CHECK;
void perfdata_directory_remove(const char *path);
/* An error if PATH is a folder that holds anything that is not part of a recording. */
struct error *perfdata_directory_check_parts(const char *path) MUST_CHECK;

/* PATH.SUFFIX, to be freed; slashes at the end of PATH are left out. */
char *perfdata_path_with(const char *path, const char *suffix);

/*
 * An error where PATH, or the PATH.old that it would become, is there and is not a recording (or an
 * empty file or folder), or where PATH.old holds other things as well. HINT says what to do where
 * one of them is not a recording. Changes nothing.
 */
struct error *perfdata_check_replaceable(const char *path, const char *hint) MUST_CHECK;

/*
 * Adds a new id for event EVENT_INDEX (unique in the file, chosen by the writer), with an ID_INDEX
 * record in the stream that tells perf its machine_pid and vcpu. SPEC's id is ignored.
 */
struct error *perfdata_writer_add_id(struct perfdata_writer *writer, size_t event_index,
				     const struct perfdata_id *spec, uint64_t *ret_id) MUST_CHECK;

/*
 * Appends one or more complete records, buffered; only fails on write errors (or if a record has an
 * impossible size). Notes the times of the first and the last sample.
 */
struct error *perfdata_writer_append(struct perfdata_writer *writer, const void *records,
				     size_t size) MUST_CHECK;
/*
 * From now on, records that belong to samples go to HOLD instead, whose maximum is no limit here:
 * perfdata_writer_append(), rounds, losses, and the comms, mappings and processes of guests. NULL:
 * to the file again.
 */
void perfdata_writer_hold(struct perfdata_writer *writer, struct buffer *hold);
/*
 * PERF_RECORD_FINISHED_ROUND: no record after it is older than the newest one before the end of the
 * previous round (perf's ordered-events rule). Call it once per pass over all rings.
 */
struct error *perfdata_writer_round(struct perfdata_writer *writer) MUST_CHECK;

/*
 * From now on, SHIFT_NS is added to the times of the records and tables below, but for 0: those are
 * of another clock than the file's.
 */
void perfdata_writer_shift_times(struct perfdata_writer *writer, int64_t shift_ns);
/* PERF_RECORD_COMM. Like the other kernel records below, it ends with a sample_id trailer. */
struct error *perfdata_writer_comm(struct perfdata_writer *writer, uint32_t pid, uint32_t tid,
				   const char *comm, uint64_t time_ns) MUST_CHECK;
/*
 * A mapping. For the host's kernel, so that perf can name host kernel samples (and does not warn
 * that it cannot): pid UINT32_MAX, misc KERNEL, path "[kernel.kallsyms]_text", start and
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
 * The same for a thread or process inside the guest of MACHINE_PID: pid and tid are the guest's,
 * and so are paths. Stock perf and perfvisor assign samples of that guest with this pid and tid to
 * this thread. The guest must already have an id (perfdata_writer_add_id); the record carries its
 * first one, which ties it to the guest.
 *
 * If samples carry the vCPU thread's pid and tid, stock perf needs the comm of that thread here as
 * well as through perfdata_writer_comm(): it keeps each guest's threads apart from the host's, and
 * shows ":TID" if this record is missing.
 */
struct error *perfdata_writer_guest_comm(struct perfdata_writer *writer, uint32_t machine_pid,
					 uint32_t pid, uint32_t tid, const char *comm,
					 uint64_t time_ns) MUST_CHECK;
/*
 * MAPPING's misc is GUEST_USER; a path without a file has the form of the guest's /proc/PID/maps.
 */
struct error *perfdata_writer_guest_mmap2(struct perfdata_writer *writer, uint32_t machine_pid,
					  const struct perfdata_mapping *mapping,
					  uint64_t time_ns) MUST_CHECK;
/*
 * PERF_RECORD_FORK: from now on, the guest's PID is another process, which has no mappings yet (its
 * comm and mappings follow): the pid was reused, or the process executed another program.
 */
struct error *perfdata_writer_guest_process(struct perfdata_writer *writer, uint32_t machine_pid,
					    uint32_t pid, uint32_t parent_pid,
					    uint64_t time_ns) MUST_CHECK;
/* PERF_RECORD_FORK for this machine; exec: the child does not inherit the parent's mappings. */
struct perfdata_fork {
	uint32_t pid, parent_pid, tid, parent_tid;
	bool exec;
};
struct error *perfdata_writer_fork(struct perfdata_writer *writer, const struct perfdata_fork *fork,
				   uint64_t time_ns) MUST_CHECK;
/* PERF_RECORD_LOST: COUNT samples of ID were lost. */
struct error *perfdata_writer_lost(struct perfdata_writer *writer, uint64_t id, uint64_t count,
				   uint64_t time_ns) MUST_CHECK;

struct error *perfdata_writer_flush(struct perfdata_writer *writer) MUST_CHECK;
/* False before the first flush, until which what was at PATH is still there. */
bool perfdata_writer_has_name(const struct perfdata_writer *writer);
uint64_t perfdata_writer_bytes(const struct perfdata_writer *writer); /* of the file as it is */

struct perfdata_writer_build_id {
	const char *path;
	const uint8_t *bytes;
	uint8_t size;
	uint16_t misc;
	uint32_t pid; /* machine pid; UINT32_MAX for the host */
};
/*
 * A table of guest symbols. A kernel's applies to samples in [from_ns, until_ns), until_ns 0: to
 * the end. A guest that reboots or loads a module has several; the last one that applies is used. A
 * file's is found by machine_pid, path and build-id; its addresses are file offsets.
 */
struct perfdata_writer_symbols {
	uint32_t machine_pid; /* 0: all guests */
	const void *data;
	size_t size;
	enum perfdata_symbols_kind kind;
	uint64_t from_ns, until_ns; /* for a kernel; 0, 0: always */
	const char *path;	    /* for a file in the guest */
	const uint8_t *build_id;
	uint8_t build_id_bytes; /* 0: unknown; at most PERFDATA_BUILD_ID_BYTES */
};
/* The recorded machine; fields that are NULL or 0 are unknown, and left out of the file. */
struct perfdata_writer_machine {
	const char *hostname, *osrelease, *arch, *cpudesc, *cpuid;
	uint32_t cpus;
	uint64_t memory_kb;
};
/*
 * The writer determines hostname, osrelease, arch, CPUs, memory, sample time and event desc itself.
 */
/* The clock of the file's times. */
struct perfdata_writer_clock {
	int32_t id; /* CLOCK_MONOTONIC … */
	uint64_t resolution_ns;
	uint64_t wall_ns, clock_ns; /* CLOCK_REALTIME, and this clock at the same moment */
};
struct perfdata_writer_features {
	const struct perfdata_writer_machine *machine; /* NULL: this machine */
	int argc;
	char *const *argv; /* the command line */
	const struct perfdata_writer_build_id *build_ids;
	size_t build_id_count;
	const struct perfdata_writer_clock *clock; /* NULL: it is not known */
	const void *tracing_data; /* the section HEADER_TRACING_DATA, NULL without tracepoints */
	size_t tracing_data_bytes;
	const struct perfdata_inventory *inventory;
	const struct perfdata_writer_symbols *symbols;
	size_t symbols_count;
};
/*
 * From now on records are compressed, as `perf record -z` does; before anything else is called.
 * What a recorder leaves then that is killed is readable by perfvisor, not by perf, which looks for
 * how it is compressed behind the records.
 */
struct error *perfdata_writer_compress(struct perfdata_writer *writer) MUST_CHECK;
/*
 * Before the first sample: the machine, the command line, the tracing data, the inventory and the
 * build-ids of FEATURES.
 */
struct error *perfdata_writer_begin(struct perfdata_writer *writer,
				    const struct perfdata_writer_features *features) MUST_CHECK;
/*
 * What is new in INVENTORY since the last time, and the time of day: readers take it as when the
 * recorder was there last.
 */
struct error *perfdata_writer_inventory(struct perfdata_writer *writer,
					const struct perfdata_inventory *inventory) MUST_CHECK;
/* Those of the COUNT build-ids, to which new ones are only ever appended, that are new. */
struct error *perfdata_writer_build_ids(struct perfdata_writer *writer,
					const struct perfdata_writer_build_id *build_ids,
					size_t count) MUST_CHECK;
/*
 * Stores a table, once if it is there already, and with little more than what is different if one
 * like it is. *RET_NUMBER is for perfdata_writer_symbols_until().
 */
struct error *perfdata_writer_symbols(struct perfdata_writer *writer,
				      const struct perfdata_writer_symbols *symbols,
				      uint32_t *ret_number) MUST_CHECK;
struct error *perfdata_writer_symbols_until(struct perfdata_writer *writer, uint32_t number,
					    uint64_t until_ns) MUST_CHECK;
/* FEATURES' symbols are stored first: those that perfdata_writer_symbols() did not store. */
struct error *perfdata_writer_finish(struct perfdata_writer *writer,
				     const struct perfdata_writer_features *features) MUST_CHECK;

DEFINE_CLEANUP(cleanup_perfdata_writer, struct perfdata_writer *, perfdata_writer_destroy)
#define _cleanup_perfdata_writer_ _cleanup_(cleanup_perfdata_writer)

#endif
