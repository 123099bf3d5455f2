/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file of which only some bytes can be read: its build-id, and its symbols if everything
 * they depend on is there.
 */
#ifndef GUEST_PROCESS_ELF_COPY_H
#define GUEST_PROCESS_ELF_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct symbol_table;

#define GUEST_BUILD_ID_BYTES 20 /* longer ones are cut, as perf does */

struct guest_build_id {
	size_t bytes; /* 0: none, or not in memory */
	uint8_t data[GUEST_BUILD_ID_BYTES];
};

struct guest_elf_source {
	/* False: some of [OFFSET, OFFSET + SIZE), which is inside the file, cannot be read. */
	bool (*read)(void *context, uint64_t offset, void *data, size_t size);
	void *context;
	uint64_t bytes; /* of the file */
};

/* Reads at most 64 KiB for each note. */
struct guest_build_id guest_elf_build_id(const struct guest_elf_source *source);
/*
 * The symbols of .symtab and .dynsym, each only if it is complete, in the form of symbol/dso.h: by
 * file offset. Reads at most 16 MiB, from files of at most 128 MiB. ERROR_NOT_FOUND: not an ELF
 * file, it has no symbols, or they cannot be read; the message says which.
 */
struct error *guest_elf_symbols(const struct guest_elf_source *source,
				struct symbol_table **ret) MUST_CHECK;

#endif
