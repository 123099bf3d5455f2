/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by table.c and table_wire.c. */
#ifndef UNWIND_TABLE_TABLE_PRIVATE_H
#define UNWIND_TABLE_TABLE_PRIVATE_H

#include "base/map.h"
#include "base/vector.h"
#include "unwind/table/table.h"

#define MAX_SPAN (1ULL << 30)      /* of one piece; at most KERNEL_IMAGE_SIZE */
#define MAX_ROWS ((size_t)8 << 20) /* in total; a kernel has 400,000 */
#define MAX_DIFFERENT_ROWS 65536
#define MAX_PIECES 4097 /* the kernel and the maximum number of modules */

/* The code of the kernel or of a module. */
struct piece {
	uint64_t start;
	uint32_t bytes;   /* of code */
	uint32_t *ips;    /* relative to start, ascending */
	uint16_t *rows;   /* the row number for each */
	uint32_t *blocks; /* for each block: the last row at or below its start, plus 1 */
	unsigned int block_bits; /* a block has 1 << block_bits bytes */
	size_t count;
};

struct unwind_table {
	VECTOR(struct piece) pieces; /* sorted by start */
	VECTOR(struct unwind_row) rows;
	struct map numbers; /* a row's bytes -> its number; only of those added since decoding */
	size_t row_count;
	uint64_t trampolines[UNWIND_MAX_TRAMPOLINES];
	size_t trampoline_count;
	bool frame_pointers, bits32;
	struct unwind_calls *calls; /* not encoded */
};

#endif
