/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs, libraries and vDSOs that guest processes have mapped: their build-ids, symbols and
 * call frame information, read from the page cache of the guest, or for a vDSO from its kernel's
 * image.
 */
#ifndef GUEST_PROCESS_PROGRAM_H
#define GUEST_PROCESS_PROGRAM_H

#include "guest/kernel/kernel.h"
#include "guest/process/elf_frames.h"

enum guest_program_kind { GUEST_PROGRAM_FILE, GUEST_PROGRAM_VDSO };

struct guest_program {
	enum guest_program_kind kind;
	struct gva at; /* a struct file; the struct mm_struct that has the vDSO mapped */
};

struct guest_program_reader;

/* Finds the layouts once. KERNEL is borrowed. ERROR_UNSUPPORTED: as guest_kernel_layout(). */
struct error *guest_program_reader_create(const struct guest_kernel *kernel,
					  struct guest_program_reader **ret) MUST_CHECK;
void guest_program_reader_destroy(struct guest_program_reader *reader); /* takes NULL */
/* What was found of files so far no longer holds. */
void guest_program_reader_forget(struct guest_program_reader *reader);

/* Read once for each file, and kept until _forget(). */
struct guest_build_id guest_program_build_id(struct guest_program_reader *reader,
					     const struct guest_program *program);
/*
 * As guest_elf_symbols(); ERROR_NOT_FOUND, too, where the file left memory while it was read: what
 * of memory was cached is forgotten for looking again.
 */
struct error *guest_program_symbols(struct guest_program_reader *reader,
				    const struct guest_program *program,
				    struct symbol_table **ret) MUST_CHECK;

/* As guest_elf_frames_read(), and where the file left memory as above. */
struct error *guest_program_frames(struct guest_program_reader *reader,
				   const struct guest_program *program,
				   struct guest_elf_frames *ret) MUST_CHECK;

DEFINE_CLEANUP(cleanup_guest_program_reader, struct guest_program_reader *,
	       guest_program_reader_destroy)
#define _cleanup_guest_program_reader_ _cleanup_(cleanup_guest_program_reader)

#endif
