/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `perfvisor convert`: a guest as a machine of its own. */
#ifndef CMD_CONVERT_CONVERT_H
#define CMD_CONVERT_CONVERT_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vector.h"
#include "perfdata/writer.h"
#include "session/session.h"

/* A file that guest processes map, as the converted recording knows it. */
struct native_file {
	uint32_t dso; /* in the session's dsos */
	uint8_t build_id[PERFDATA_BUILD_ID_BYTES];
	uint8_t build_id_bytes;
};

struct native {
	struct session *session;
	struct machine *machine; /* the guest */
	struct perfdata_writer *writer;

	/* What the guest ran; NULL: its symbols are not known. Owned. */
	struct symbol_table *kernel;
	uint64_t kernel_text; /* where it begins; 0: not known */
	/* where each of the machine's kernels began; NULL: all the same. Owned */
	uint64_t *boot_starts;
	uint64_t other_boots; /* samples of kernels that are not this one: left out */
	uint64_t samples;     /* that were written */
	uint64_t nested;      /* of them: of a guest of the guest */
	uint32_t vcpus;	      /* one more than the highest number of a vCPU with samples */

	/* place in the new file + 1, by that in the old one; 0: left out. Owned */
	uint32_t *events;
	struct map ids;	  /* new place of the event and vCPU -> new id */

	VECTOR(struct native_file) files;
	struct map file_of_dso; /* -> place in files + 1 */
};

/* Chooses the kernel (native_kernel.c): where the guest booted again, the one with most samples. */
struct error *native_choose_kernel(struct native *native) MUST_CHECK;
/* Whether TIME was under that kernel. */
bool native_has_time(const struct native *native, uint64_t time);
/*
 * The kernel's and its modules' range, by whose addresses perf loads what it knows; false: not
 * known.
 */
bool native_kernel_range(const struct native *native, uint64_t *ret_start, uint64_t *ret_end);

#define NATIVE_MAX_VCPUS 4096

/* The CPU that a vCPU is; 0 for one whose number is not known. */
static inline uint32_t native_cpu(uint32_t vcpu)
{
	return vcpu < NATIVE_MAX_VCPUS ? vcpu : 0;
}

/* Writes the file PATH: all of it but the features (native_records.c). */
struct error *native_write_records(struct native *native, const char *path) MUST_CHECK;
/* The id of what was event OLD_EVENT, which is not left out, on CPU VCPU. */
struct error *native_find_id(struct native *native, size_t old_event, uint32_t vcpu,
			     uint64_t *ret) MUST_CHECK;

/* The records beside samples (native_side.c): creating reads all of the recording. */
struct native_side *native_side_create(struct native *native);
void native_side_destroy(struct native_side *side);
/* Writes those of times up to TIME that were not written yet. */
struct error *native_side_copy_until(struct native_side *side, uint64_t time) MUST_CHECK;

/* The symbols, beside the file in FOLDER (native_symbols.c). */
struct error *native_write_symbols(struct native *native, const char *folder) MUST_CHECK;

#endif
