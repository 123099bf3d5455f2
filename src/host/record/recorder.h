/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in progress: the VMs and their threads, the capture of their samples, and the file.
 *
 *	recorder_create(&config, &recorder);     finds the VMs, opens the events, then the file
 *	recorder_begin(recorder, &features);
 *	recorder_look_at_guests(recorder);
 *	recorder_set_enabled(recorder, RECORDER_ALL_EVENTS, true);
 *	while (!recorder_vms_gone(recorder) …)
 *		recorder_step(recorder, 200);
 *	recorder_stop(recorder);                 the last samples, exact totals
 *	recorder_finish(recorder, &features);    completes the file
 *	recorder_destroy(recorder);
 *
 * Here a VM is a process: several VMs in one process count as one (perf's files distinguish
 * machines by pid).
 */
#ifndef HOST_RECORD_RECORDER_H
#define HOST_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/ranges.h"
#include "host/capture/capture.h"
#include "host/event/event.h"
#include "host/record/guest_reader.h"
#include "perfdata/inventory.h"
#include "perfdata/writer/writer.h"

struct recorder_config {
	const struct host_event *events; /* borrowed; probed, with rate, sample_type, read_format */
	const host_modes *modes; /* per event: which samples are written; others are counted */
	size_t event_count;
	bool guest, host;         /* what to record */
	const char *event_choice; /* "" if the user named the event */
	const char *const *vms;   /* names or pids; none: every VM, including later ones */
	size_t vm_count;
	struct ranges vcpus, threads; /* only these numbers and thread ids; borrowed */
	struct ranges cpus;	      /* only while on these CPUs of the host, online; borrowed */
	int clock_id;		      /* of the times in the file */
	size_t ring_bytes;	      /* of each ring, a power of two; 0: by the rate */
	bool may_begin_empty; /* it is not an error if there is no VM yet */
	bool no_memory;	      /* do not read guest memory */
	bool code;	      /* keep the code of the functions that most samples are in */
	bool kernel_only;     /* do not read guests' user space or record processes */
	bool call_chains;     /* of guest kernels and, unless kernel_only, guest programs */
	/* add possible callers to chains that break off, and mark them */
	bool scan;
	/* share of a core that sampling may take on a vCPU's thread; 0: unlimited */
	double max_overhead;
	uint32_t user_stack_bytes; /* how much of a program's stack to copy for chains */
	/* the ELF file of guests that are not Linux, for chains; NULL: none */
	const char *guest_image;
	const char *path;
	bool compress; /* the records, as perf record -z does */
	bool pipe; /* PATH is not used: the recording goes to standard output */
	bool qmp; /* sample the only VM by asking QEMU, which need not use KVM */
	bool directory; /* PATH becomes a folder, where perf will find guest kernels' symbols */
	bool switches;	/* recorder_switch() will be called */
	bool overwrite; /* keep the newest samples in memory, and write them at the end of a file */
};

struct recorder;

/* ERROR_NOT_FOUND: there is no VM. */
struct error *recorder_create(const struct recorder_config *config,
			      struct recorder **ret) MUST_CHECK;
void recorder_destroy(struct recorder *recorder); /* takes NULL */

/* Call chains are wanted, but guest samples will have none here. */
bool recorder_lacks_chains(const struct recorder *recorder);
/*
 * Call chains are limited to code that keeps frame pointers, and some in kernels, since stack
 * pointers cannot be read.
 */
bool recorder_lacks_sp(const struct recorder *recorder);
/* Kernel samples without a stack pointer, and what the search for it found. */
struct recorder_sp_counts {
	uint64_t samples;
	uint64_t by_bp; /* not searched: the unwind data use BP */
	/* not searched: the stack in use is uncertain, or the code uses another one */
	uint64_t not_certain;
	uint64_t found, none, several, unsure; /* as enum unwind_sp */
	uint64_t wrong; /* wrong chains, if the host compares (host/system/kvm.h) */
};
struct recorder_sp_counts recorder_sp_counts(const struct recorder *recorder);
/* Samples that waited for the mappings of their processes (recorder_wait.c). */
struct recorder_wait_counts {
	uint64_t asked;	     /* address spaces whose mappings were copied */
	uint64_t late; /* of these, without what was to be read of their files in time */
	size_t most_bytes;   /* that waited at a time */
};
struct recorder_wait_counts recorder_wait_counts(const struct recorder *recorder);
/*
 * Waits a moment for the existing guests to be looked at, and returns whether they have been.
 * Samples of a known kernel include their process.
 */
bool recorder_look_at_guests(struct recorder *recorder);
/* Of one event, or of RECORDER_ALL_EVENTS, which are disabled at first. */
#define RECORDER_ALL_EVENTS SIZE_MAX
void recorder_set_enabled(struct recorder *recorder, size_t event, bool enabled);
/* As capture_watch() and capture_unwatch(), for recorder_step(). */
bool recorder_watch(struct recorder *recorder, int fd);
void recorder_unwatch(struct recorder *recorder, int fd);
/* Waits up to TIMEOUT_MS, takes samples, and looks for new VMs and vCPUs when it is time. */
struct error *recorder_step(struct recorder *recorder, int timeout_ms) MUST_CHECK;
/* Whether every VM that was named has ended; always false if none was named. */
bool recorder_vms_gone(const struct recorder *recorder);
struct error *recorder_stop(struct recorder *recorder) MUST_CHECK;
/*
 * Writes what is known before the first sample; from here on the file exists. Fills in the
 * inventory and build-ids in FEATURES.
 */
struct error *recorder_begin(struct recorder *recorder,
			     const struct perfdata_writer_features *features) MUST_CHECK;
/*
 * Writes what names need and is known by now. recorder_step() does this every half second: whatever
 * happens later, what was recorded before is in the file.
 */
struct error *recorder_flush(struct recorder *recorder) MUST_CHECK;
/* Likewise what is known at the end. */
struct error *recorder_finish(struct recorder *recorder,
			      const struct perfdata_writer_features *features) MUST_CHECK;

/*
 * Waits, half a second at most, until the guests were asked for what names the samples so far;
 * then all of these have been handed to the writer.
 */
struct error *recorder_settle(struct recorder *recorder) MUST_CHECK;
/*
 * After recorder_finish(), and once the file has another name: begins the next file. Samples that
 * come meanwhile are in it. Symbols are to be written again.
 */
struct error *recorder_switch(struct recorder *recorder,
			      const struct perfdata_writer_features *features) MUST_CHECK;
/* Samples in the file at hand are not older than this. */
uint64_t recorder_file_begin_ns(const struct recorder *recorder);
/* Whether the guest's FILE is mapped in this file of the recording. */
bool recorder_file_is_mapped(const struct recorder *recorder,
			     const struct guest_reader_file *file);

/* Of this file alone, once it is finished. */
const struct perfdata_inventory *recorder_inventory(const struct recorder *recorder);

/*
 * The guest kernels and files that were read so far, by number (guest_reader.h); complete after
 * recorder_stop().
 */
bool recorder_kernel(const struct recorder *recorder, size_t number,
		     struct guest_reader_kernel *ret);
bool recorder_file(const struct recorder *recorder, size_t number, struct guest_reader_file *ret);
bool recorder_code(const struct recorder *recorder, size_t number, struct guest_reader_code *ret);
/* They were written: drops their tables, and a file's path. */
void recorder_drop_kernel(struct recorder *recorder, size_t number);
void recorder_drop_file(struct recorder *recorder, size_t number);
void recorder_drop_code(struct recorder *recorder, size_t number);
/* As perfdata_writer_symbols() and perfdata_writer_symbols_until(). */
struct error *recorder_write_symbols(struct recorder *recorder,
				     const struct perfdata_writer_symbols *symbols,
				     uint32_t *ret_number) MUST_CHECK;
struct error *recorder_write_symbols_until(struct recorder *recorder, uint32_t number,
					   uint64_t until_ns) MUST_CHECK;

struct recorder_totals {
	size_t vms, vms_alive, threads;
	uint64_t written, dropped, lost; /* lost: as far as known so far */
	uint64_t file_bytes;
	uint64_t tables_refused; /* of guests that reached their limit of memory */
	bool vcpus_unknown; /* of some VM: all threads of its process are sampled */
	bool sampled; /* recorder_step() was called while events were enabled */
};
/*
 * No VM has been seen, so nothing has been written: the file does not exist, and what was at its
 * path is still there. Not for pipes, folders, and file systems without O_TMPFILE.
 */
bool recorder_is_empty(const struct recorder *recorder);
/* Adds the counts of COUNTS to SUM. */
void recorder_add_counts(struct perfdata_vm_counts *sum, const struct perfdata_vm_counts *counts);
/* Of all files, and of what is held. */
struct perfdata_vm_counts recorder_counts(const struct recorder *recorder);
/* With --overwrite: samples that were given up for newer ones. */
uint64_t recorder_overwritten(const struct recorder *recorder);
struct recorder_totals recorder_totals(const struct recorder *recorder);
struct capture_stats recorder_capture_stats(const struct recorder *recorder);
struct sampler_cost recorder_cost(const struct recorder *recorder);
const char *recorder_capture_description(const struct recorder *recorder);

DEFINE_CLEANUP(cleanup_recorder, struct recorder *, recorder_destroy)
#define _cleanup_recorder_ _cleanup_(cleanup_recorder)

#endif
