/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a guest process, as in /proc/PID/maps. */
#ifndef GUEST_PROCESS_MAPPING_H
#define GUEST_PROCESS_MAPPING_H

#include <stdbool.h>

#include "base/intern.h"
#include "base/vector.h"
#include "bpf/guest_sampler.h"
#include "guest/kernel/kernel.h"
#include "guest/process/path.h"
#include "guest/process/program.h"

enum guest_mapping_kind {
	GUEST_MAPPING_ANONYMOUS,
	GUEST_MAPPING_FILE,
	GUEST_MAPPING_HEAP,
	GUEST_MAPPING_STACK,
	GUEST_MAPPING_SPECIAL, /* vdso, vvar, vsyscall: its name says which */
};

struct guest_mapping {
	struct gva start, end; /* end is exclusive */
	bool read, write, execute, shared;
	enum guest_mapping_kind kind;
	uint64_t file_offset; /* in bytes */
	uint32_t device_major, device_minor;
	uint64_t inode;
	uint32_t path; /* number in the reader's strings: a path, "[heap]", "" */
	/* executable files and the vDSO; its build-id if it is in memory */
	struct guest_program program;
	struct guest_build_id build_id;
};

struct guest_mappings {
	VECTOR(struct guest_mapping) items; /* ascending */
	bool cut; /* there were more than 65,536, or the tree could not be read to its end */
};

struct guest_mapping_reader;

/*
 * Looks up the layouts once. KERNEL, STRINGS and PROGRAMS are borrowed. Paths are added to STRINGS;
 * build-ids come from PROGRAMS (NULL: no build-ids).
 */
struct error *guest_mapping_reader_create(const struct guest_kernel *kernel,
					  struct intern *strings,
					  struct guest_program_reader *programs,
					  struct guest_mapping_reader **ret) MUST_CHECK;
void guest_mapping_reader_destroy(struct guest_mapping_reader *reader); /* takes NULL */

/* The mappings of MM, a struct mm_struct. */
void guest_mappings_read(struct guest_mapping_reader *reader, struct gva mm,
			 struct guest_mappings *ret);
/*
 * The same of the executable mappings AREAS, which were copied from a process that may have ended
 * since. They keep their order. Of those whose file is not there any more nothing but the addresses
 * is known.
 */
void guest_mappings_read_copied(struct guest_mapping_reader *reader,
				const struct sampler_areas *areas, struct guest_mappings *ret);
void guest_mappings_deinit(struct guest_mappings *mappings);
/* The file or vDSO of the mapping that starts at START; false if there is no such mapping. */
bool guest_mapping_find_program(struct guest_mapping_reader *reader, struct gva mm,
				struct gva start, struct guest_program *ret);

DEFINE_CLEANUP(cleanup_guest_mapping_reader, struct guest_mapping_reader *,
	       guest_mapping_reader_destroy)
#define _cleanup_guest_mapping_reader_ _cleanup_(cleanup_guest_mapping_reader)

#endif
