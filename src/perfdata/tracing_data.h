/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of tracepoints in a recording (HEADER_TRACING_DATA). Source: tools/perf/util/
 * trace-event-info.c writes them, trace-event-read.c reads them: a magic, a version, the byte
 * order, the size of a long, the size of a page, two files about the ring buffer, formats of
 * ftrace's own events, then formats by system. What follows (kallsyms, printk formats, command
 * lines) is not read.
 */
#ifndef PERFDATA_TRACING_DATA_H
#define PERFDATA_TRACING_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

struct perfdata_tracing {
	bool big_endian;
	uint8_t long_bytes; /* 4 or 8 */
	uint32_t page_bytes;

	/* perfdata_tracing_next()'s own: */
	struct cursor cursor;
	uint32_t systems, formats; /* left; formats of the system */
	const char *system;
};

/* One file "format"; borrowed. */
struct perfdata_tracing_format {
	const char *system;
	const char *text; /* not terminated */
	size_t bytes;
};

/* False: this is no tracing data, or it ends before the formats. DATA is borrowed. */
bool perfdata_tracing_open(const void *data, size_t size, struct perfdata_tracing *ret);
/* False: there are no more. They were not all there if RET->cursor.failed. */
bool perfdata_tracing_next(struct perfdata_tracing *tracing, struct perfdata_tracing_format *ret);

/*
 * Name and number of a format, "name: sched_switch\nID: 316\n…"; the name has at most 255 bytes and
 * is terminated. False: it has none.
 */
bool perfdata_tracing_name(const struct perfdata_tracing_format *format, char ret_name[256],
			   uint64_t *ret_id);

#endif
