/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `perfvisor convert`, which turns a guest into a machine of its own. */
#ifndef CMD_CONVERT_CONVERT_H
#define CMD_CONVERT_CONVERT_H

#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/vector.h"
#include "perfdata/writer/writer.h"
#include "session/filter/filter.h"
#include "session/session.h"

/* A file mapped by guest processes, as it appears in the converted recording. */
struct native_file {
	uint32_t dso; /* in the session's dsos */
	uint8_t build_id[PERFDATA_BUILD_ID_BYTES];
	uint8_t build_id_bytes;
};

struct native {
	struct session *session;
	struct machine *machine; /* the guest */
	struct perfdata_writer *writer;

	/* The guest's kernel symbols; NULL if not known. Owned. */
	struct symbol_table *kernel;
	uint64_t kernel_text; /* start address; 0: not known */
	/* start of each of the machine's kernels; NULL: all the same. Owned */
	uint64_t *boot_starts;
	uint64_t other_boots; /* samples taken under other kernels, left out */
	struct filter filter; /* of samples */
	uint64_t left_out;    /* of the guest's: by the filter */
	uint64_t samples;     /* written */
	uint64_t nested;      /* how many of them came from a guest of the guest */
	uint32_t vcpus;	      /* highest number of a vCPU with samples, plus one */

	/* old event index -> new index + 1; 0: left out. Owned */
	uint32_t *events;
	struct map ids;	  /* (new index of the event, vCPU) -> new id */

	VECTOR(struct native_file) files;
	struct map file_of_dso; /* -> index in files + 1 */
};

/*
 * Chooses the kernel (native_kernel.c): if the guest was rebooted, the one with the most samples.
 */
struct error *native_choose_kernel(struct native *native) MUST_CHECK;
/* Whether that kernel was running at TIME. */
bool native_has_time(const struct native *native, uint64_t time);
/*
 * The address range of the kernel and its modules, by which perf finds the symbols. False: not
 * known.
 */
bool native_kernel_range(const struct native *native, uint64_t *ret_start, uint64_t *ret_end);

#define NATIVE_MAX_VCPUS 4096

/* The CPU number for a vCPU; 0 if the vCPU's number is not known. */
static inline uint32_t native_cpu(uint32_t vcpu)
{
	return vcpu < NATIVE_MAX_VCPUS ? vcpu : 0;
}

/* Writes the file PATH except for its feature sections (native_records.c). */
struct error *native_write_records(struct native *native, const char *path) MUST_CHECK;
/* The id of old event OLD_EVENT, which must not be left out, on CPU VCPU. */
struct error *native_find_id(struct native *native, size_t old_event, uint32_t vcpu,
			     uint64_t *ret) MUST_CHECK;

/* Records other than samples (native_side.c). Creating it reads the whole recording. */
struct native_side *native_side_create(struct native *native);
void native_side_destroy(struct native_side *side);
/* Writes the records up to TIME that have not been written yet. */
struct error *native_side_copy_until(struct native_side *side, uint64_t time) MUST_CHECK;

/* Writes the symbols into FOLDER, next to the file (native_symbols.c). */
struct error *native_write_symbols(struct native *native, const char *folder) MUST_CHECK;

#endif
