/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording being made: the VMs and their threads, the capture of their samples, the file.
 *
 *	recorder_create(&config, &recorder);     finds the VMs, opens the events, then the file
 *	recorder_look_at_guests(recorder);
 *	recorder_enable(recorder);
 *	while (!recorder_vms_gone(recorder) …)
 *		recorder_step(recorder, 200);
 *	recorder_stop(recorder);                 the last samples, exact totals
 *	recorder_finish(recorder, &features);    completes the file
 *	recorder_destroy(recorder);
 *
 * A VM here is a process: VMs of one process are one (perf's files tell machines apart by pid).
 */
#ifndef HOST_RECORD_RECORDER_H
#define HOST_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "host/capture/capture.h"
#include "host/event/event.h"
#include "host/record/guest_reader.h"
#include "perfdata/inventory.h"
#include "perfdata/writer.h"

struct recorder_config {
	const struct host_event *events; /* borrowed; probed, with rate, sample_type, read_format */
	const host_modes *modes; /* per event: which samples are written; others are counted */
	size_t event_count;
	bool guest, host;         /* what was asked for */
	const char *event_choice; /* "" where the user named the event */
	const char *const *vms;   /* names or pids; none: every VM, also those that come later */
	size_t vm_count;
	bool may_begin_empty; /* no VM yet is no error */
	bool no_memory;	      /* guest memory is not read */
	bool kernel_only;     /* nothing of guests' user space is read, no process told */
	bool call_chains;     /* of guests: of their kernels and, but for kernel_only, programs */
	/* what may be callers is added to chains that break off, and marked */
	bool scan;
	/* share of a core that sampling may take of a vCPU's thread; 0: any */
	double max_overhead;
	uint32_t user_stack_bytes; /* of a program's stack that is copied for them */
	/* the ELF file of guests that are no Linux, for these; NULL: none */
	const char *guest_image;
	const char *path;
	bool qmp; /* the one VM, which may be a QEMU without KVM, is sampled by asking it */
	bool directory; /* PATH is to be a folder, in which perf will find guest kernels' symbols */
};

struct recorder;

/* ERROR_NOT_FOUND where there is no VM. The output file is not touched before all else works. */
struct error *recorder_create(const struct recorder_config *config,
			      struct recorder **ret) MUST_CHECK;
void recorder_destroy(struct recorder *recorder); /* takes NULL */

/* Call chains were asked for, and guest samples will have none here. */
bool recorder_lacks_chains(const struct recorder *recorder);
/*
 * Or only those of code that keeps frame pointers, and some of kernels: the stack pointers are out
 * of reach.
 */
bool recorder_lacks_sp(const struct recorder *recorder);
/* Kernel samples without a stack pointer, and what was found of these. */
struct recorder_sp_counts {
	uint64_t samples;
	uint64_t by_bp; /* not looked for: a row goes by BP */
	/* nor where the stack in use is not known for certain, or the code's */
	uint64_t not_certain;
	uint64_t found, none, several, unsure; /* as enum unwind_sp */
	uint64_t wrong; /* chains, where the host compares (host/system/kvm.h) */
};
struct recorder_sp_counts recorder_sp_counts(const struct recorder *recorder);
/*
 * Waits until the guests there are have been looked at, for a moment at most, and says whether they
 * have: samples of a kernel that is known say their process.
 */
bool recorder_look_at_guests(struct recorder *recorder);
struct error *recorder_enable(struct recorder *recorder) MUST_CHECK;
/* Waits up to TIMEOUT_MS, takes what came, looks for new VMs and vCPUs when it is time. */
struct error *recorder_step(struct recorder *recorder, int timeout_ms) MUST_CHECK;
/* Whether every VM that was named has ended; never so where none was named. */
bool recorder_vms_gone(const struct recorder *recorder);
struct error *recorder_stop(struct recorder *recorder) MUST_CHECK;
/* FEATURES' inventory and build-ids are filled in here. */
struct error *recorder_finish(struct recorder *recorder,
			      const struct perfdata_writer_features *features) MUST_CHECK;

const struct perfdata_inventory *recorder_inventory(const struct recorder *recorder);

/*
 * The guest kernels and files that were read, of VMs by their number in the inventory; complete
 * after recorder_stop().
 */
const struct guest_reader_kernel *recorder_kernels(const struct recorder *recorder,
						   size_t *ret_count);
const struct guest_reader_file *recorder_files(const struct recorder *recorder, size_t *ret_count);

struct recorder_totals {
	size_t vms, vms_alive, threads;
	uint64_t written, dropped, lost; /* lost: as far as is known so far */
	uint64_t file_bytes;
	bool vcpus_unknown; /* of a VM: all threads of its process are sampled instead */
	bool sampled; /* there was time for samples: recorder_step() was called */
};
struct recorder_totals recorder_totals(const struct recorder *recorder);
struct capture_stats recorder_capture_stats(const struct recorder *recorder);
struct sampler_cost recorder_cost(const struct recorder *recorder);
const char *recorder_capture_description(const struct recorder *recorder);

DEFINE_CLEANUP(cleanup_recorder, struct recorder *, recorder_destroy)
#define _cleanup_recorder_ _cleanup_(cleanup_recorder)

#endif
