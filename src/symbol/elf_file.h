/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files: their build-id and their symbols. Nothing in the file is trusted. */
#ifndef SYMBOL_ELF_FILE_H
#define SYMBOL_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "symbol/table.h"

#define BUILD_ID_MAX_BYTES 64

struct build_id {
	size_t bytes; /* 0: none */
	uint8_t data[BUILD_ID_MAX_BYTES];
};

struct elf_file;

/*
 * ERROR_BAD_DATA if it is not an ELF file; there is a hint for compressed kernel images. Both
 * functions open with open_untrusted().
 */
struct error *elf_file_open(const char *path, struct elf_file **ret) MUST_CHECK;
/* The file PATH below ROOT, which a guest or the author of a recording has filled. */
struct error *elf_file_open_below(const char *root, const char *path,
				  struct elf_file **ret) MUST_CHECK;
/* An ELF image in memory, which is borrowed. NAME is for messages. */
struct error *elf_file_open_memory(const void *data, size_t size, const char *name,
				   struct elf_file **ret) MUST_CHECK;
void elf_file_close(struct elf_file *file); /* takes NULL */

const char *elf_file_name(const struct elf_file *file); /* the name it was opened with; borrowed */
const struct build_id *elf_file_build_id(const struct elf_file *file);
bool elf_file_has_symtab(const struct elf_file *file); /* .symtab */
/* The file contains code: it is not one with only debugging information. */
bool elf_file_has_code(const struct elf_file *file);
bool elf_file_has_lines(const struct elf_file *file); /* .debug_info: DWARF's source lines */
/* Another descriptor of the opened file, the caller's to close; -1: there is none. */
int elf_file_dup(const struct elf_file *file);
/* The address, as linked, of file offset OFFSET; false: it is in no loadable segment. */
bool elf_file_to_address(const struct elf_file *file, uint64_t offset, uint64_t *ret);
/* The other way; false: it is in no loadable segment, or not in the file. */
bool elf_file_to_offset(const struct elf_file *file, uint64_t address, uint64_t *ret);
/* Its machine (EM_*) and byte order. */
uint16_t elf_file_machine(const struct elf_file *file);
bool elf_file_is_big_endian(const struct elf_file *file);
/*
 * What is loaded from file offset OFFSET on: appended to OUT, at most SIZE bytes, up to the end of
 * the segment. False: nothing was appended, OFFSET is in no loadable segment or cannot be read.
 */
bool elf_file_read_loaded(const struct elf_file *file, uint64_t offset, uint64_t size,
			  struct buffer *out);
/* The file_stamp() of the opened file; 0 for an image in memory. */
uint64_t elf_file_stamp(const struct elf_file *file);
/* The file name in .gnu_debuglink, borrowed; NULL if there is none, or it has a '/'. */
const char *elf_file_debug_link(const struct elf_file *file);

/*
 * Adds FILE's symbols as file offsets of RUNTIME, the file that is mapped when the program runs.
 * That is FILE itself, or the stripped file whose symbols are in FILE.
 */
struct error *elf_file_add_offsets(struct elf_file *file, struct elf_file *runtime,
				   struct symbol_builder *builder) MUST_CHECK;
/* Adds the entries of RUNTIME's procedure linkage table, "name@plt", as file offsets. */
struct error *elf_file_add_plt(struct elf_file *runtime, struct symbol_builder *builder) MUST_CHECK;
/* Adds a kernel image's symbols with DELTA added to their addresses; leaves out per-CPU data. */
struct error *elf_file_add_kernel(struct elf_file *file, uint64_t delta,
				  struct symbol_builder *builder) MUST_CHECK;
/* The link address of the symbol NAME in .symtab. */
struct error *elf_file_find_symbol(struct elf_file *file, const char *name,
				   uint64_t *ret) MUST_CHECK;

/* The build-id in ELF notes (of a section, or of /sys/kernel/notes); 0 bytes if there is none. */
struct build_id build_id_from_notes(const void *notes, size_t size, bool swap);
bool build_id_equal(const struct build_id *build_id, const uint8_t *data, size_t bytes);

DEFINE_CLEANUP(cleanup_elf_file, struct elf_file *, elf_file_close)
#define _cleanup_elf_file_ _cleanup_(cleanup_elf_file)

#endif
