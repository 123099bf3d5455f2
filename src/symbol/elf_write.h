/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files without code, to pass on to other tools what we know: the symbols of a program, and
 * where a kernel has code. 64 bits, in this machine's byte order.
 */
#ifndef SYMBOL_ELF_WRITE_H
#define SYMBOL_ELF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "symbol/table.h"

/* With more ranges than this, elf_write_core() merges those at the end into one. */
#define ELF_WRITE_MAX_RANGES 65000

struct elf_range {
	uint64_t start, end; /* end is exclusive */
};

/* The EM_* constant for a name printed by uname -m; EM_NONE if it is unknown. */
uint16_t elf_write_machine(const char *name);

/*
 * Writes a shared object to OUT, which is empty. Its .symtab has TABLE's symbols; their addresses
 * are offsets in the file that it stands for, and addresses in its single segment. BUILD_ID_BYTES
 * is at most 64.
 */
void elf_write_symbols(const struct symbol_table *table, uint16_t machine, const uint8_t *build_id,
		       size_t build_id_bytes, struct buffer *out);

/*
 * Writes a core file in the form of /proc/kcore, with a segment for each of RANGES (ascending),
 * whose offset equals its address and which has no contents. The segment that contains LAST comes
 * last.
 */
void elf_write_core(const struct elf_range *ranges, size_t count, uint64_t last, uint16_t machine,
		    struct buffer *out);

#endif
