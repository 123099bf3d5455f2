/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files: their build-id and their symbols. Nothing in the file is trusted. */
#ifndef SYMBOL_ELF_FILE_H
#define SYMBOL_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/table.h"

#define BUILD_ID_MAX_BYTES 64

struct build_id {
	size_t bytes; /* 0: there is none */
	uint8_t data[BUILD_ID_MAX_BYTES];
};

struct elf_file;

/* ERROR_BAD_DATA for what is no ELF file; compressed kernel images get a hint. */
struct error *elf_file_open(const char *path, struct elf_file **ret) MUST_CHECK;
/*
 * The regular file PATH as it is where ROOT is the root folder: links and ".." lead nowhere else.
 * For paths that a guest chose. Needs Linux 5.6.
 */
struct error *elf_file_open_below(const char *root, const char *path,
				  struct elf_file **ret) MUST_CHECK;
/* An ELF image in memory, which is borrowed. NAME is for messages. */
struct error *elf_file_open_memory(const void *data, size_t size, const char *name,
				   struct elf_file **ret) MUST_CHECK;
void elf_file_close(struct elf_file *file); /* takes NULL */

const char *elf_file_name(const struct elf_file *file); /* as it was opened; borrowed */
const struct build_id *elf_file_build_id(const struct elf_file *file);
bool elf_file_has_symtab(const struct elf_file *file); /* .symtab */
/* Code is in the file: it is one that runs, not one of debugging information alone. */
bool elf_file_has_code(const struct elf_file *file);
/* The file_stamp() of what was opened; 0 for an image in memory. */
uint64_t elf_file_stamp(const struct elf_file *file);
/* The file name in .gnu_debuglink, borrowed; NULL for none, or one with a '/'. */
const char *elf_file_debug_link(const struct elf_file *file);

/*
 * Adds FILE's symbols as file offsets of RUNTIME: the file that is mapped when the program
 * runs. It is FILE itself, or the stripped one that FILE has the symbols of.
 */
struct error *elf_file_add_offsets(struct elf_file *file, struct elf_file *runtime,
				   struct symbol_builder *builder) MUST_CHECK;
/* Adds the entries of RUNTIME's procedure linkage table, "name@plt", as file offsets. */
struct error *elf_file_add_plt(struct elf_file *runtime, struct symbol_builder *builder) MUST_CHECK;
/* Adds a kernel image's symbols, DELTA added to their addresses; nothing of its per-CPU data. */
struct error *elf_file_add_kernel(struct elf_file *file, uint64_t delta,
				  struct symbol_builder *builder) MUST_CHECK;
/* The address of the symbol NAME in .symtab as linked. */
struct error *elf_file_find_symbol(struct elf_file *file, const char *name,
				   uint64_t *ret) MUST_CHECK;

/* The build-id among ELF notes (of a section, or of /sys/kernel/notes); none: 0 bytes. */
struct build_id build_id_from_notes(const void *notes, size_t size, bool swap);
bool build_id_equal(const struct build_id *build_id, const uint8_t *data, size_t bytes);

DEFINE_CLEANUP(cleanup_elf_file, struct elf_file *, elf_file_close)
#define _cleanup_elf_file_ _cleanup_(cleanup_elf_file)

#endif
