/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs, libraries and vDSOs that guest processes have mapped: their build-ids, symbols and
 * call frame information, read from the guest's page cache, or from its kernel image for a vDSO.
 */
#ifndef GUEST_PROCESS_PROGRAM_H
#define GUEST_PROCESS_PROGRAM_H

#include "guest/kernel/kernel.h"
#include "guest/process/elf_frames.h"

enum guest_program_kind { GUEST_PROGRAM_NONE, GUEST_PROGRAM_FILE, GUEST_PROGRAM_VDSO };

/*
 * A program is known by its contents, which all processes share that run it, and which stay in
 * memory when the last of them is gone.
 */
struct guest_program {
	enum guest_program_kind kind;
	/* the inode's, of a file: another one may have taken its place in memory */
	uint32_t generation;
	struct gva contents; /* a struct address_space; of a vDSO, its struct vdso_image */
	uint64_t inode;
};

struct guest_program_reader;

/* Looks up the layouts once. KERNEL is borrowed. ERROR_UNSUPPORTED as for guest_kernel_layout(). */
struct error *guest_program_reader_create(const struct guest_kernel *kernel,
					  struct guest_program_reader **ret) MUST_CHECK;
void guest_program_reader_destroy(struct guest_program_reader *reader); /* takes NULL */
/* Drops everything found about files so far. */
void guest_program_reader_forget(struct guest_program_reader *reader);

/* The program in FILE, a struct file; false: it cannot be read. */
bool guest_program_in_file(struct guest_program_reader *reader, struct gva file,
			   struct guest_program *ret);
/* The vDSO of the process with MM. */
bool guest_program_vdso(struct guest_program_reader *reader, struct gva mm,
			struct guest_program *ret);

/* Whether a file still has the inode of PROGRAM. */
bool guest_program_is_there(struct guest_program_reader *reader,
			    const struct guest_program *program);

/* Read once for each file, and kept until _forget(). */
struct guest_build_id guest_program_build_id(struct guest_program_reader *reader,
					     const struct guest_program *program);
/*
 * Like guest_elf_symbols(); also returns ERROR_NOT_FOUND if the file was evicted from memory while
 * being read. Cached guest memory is dropped to check that.
 */
struct error *guest_program_symbols(struct guest_program_reader *reader,
				    const struct guest_program *program,
				    struct symbol_table **ret) MUST_CHECK;

/* Like guest_elf_frames_read(), with the same check for eviction. */
struct error *guest_program_frames(struct guest_program_reader *reader,
				   const struct guest_program *program,
				   struct guest_elf_frames *ret) MUST_CHECK;

/* BYTES of the contents from OFFSET on, which go to DATA. */
struct guest_program_part {
	uint64_t offset;
	size_t bytes;
	void *data;
	bool there; /* it was in memory; DATA is undefined if not */
};

/* Reads COUNT parts, with the same check. ERROR_NOT_FOUND: none of the program can be read. */
struct error *guest_program_read(struct guest_program_reader *reader,
				 const struct guest_program *program,
				 struct guest_program_part *parts, size_t count) MUST_CHECK;

DEFINE_CLEANUP(cleanup_guest_program_reader, struct guest_program_reader *,
	       guest_program_reader_destroy)
#define _cleanup_guest_program_reader_ _cleanup_(cleanup_guest_program_reader)

#endif
