/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of unwind data as a line, the same for the same table. */
#ifndef TABLE_HASH_H
#define TABLE_HASH_H

#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "unwind/table/table.h"

static inline void print_table_hash(const struct unwind_table *table)
{
	_cleanup_buffer_ struct buffer bytes;

	buffer_init(&bytes, (size_t)64 << 20);
	unwind_table_encode(table, &bytes);
	printf("~ %016" PRIx64 " %zu\n", hash_bytes(bytes.data, bytes.size),
	       unwind_table_rows(table));
}

#endif
