/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files that have no code, but tell other tools what we know: the symbols of a program, and
 * where a kernel has code. 64 bits, in this machine's byte order.
 */
#ifndef SYMBOL_ELF_WRITE_H
#define SYMBOL_ELF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "symbol/table.h"

/* Past this many ranges elf_write_core() makes one of those at the end. */
#define ELF_WRITE_MAX_RANGES 65000

struct elf_range {
	uint64_t start, end; /* end is exclusive */
};

/* EM_X86_64 and so on for what uname -m calls the machine; EM_NONE for what is not known. */
uint16_t elf_write_machine(const char *name);

/*
 * Into OUT, which is empty, a shared object whose .symtab has TABLE's symbols; their addresses are
 * offsets in the file that it stands for, and addresses of its one segment. BUILD_ID_BYTES at most
 * 64.
 */
void elf_write_symbols(const struct symbol_table *table, uint16_t machine, const uint8_t *build_id,
		       size_t build_id_bytes, struct buffer *out);

/*
 * Likewise a core file with a segment for each of RANGES (in rising order), offset and address the
 * same, and nothing in them: the form of /proc/kcore. That which has the address LAST comes last.
 */
void elf_write_core(const struct elf_range *ranges, size_t count, uint64_t last, uint16_t machine,
		    struct buffer *out);

#endif
