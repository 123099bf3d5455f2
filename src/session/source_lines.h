/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines, and the functions inlined at an address, of the files and kernels of a session.
 * They are looked up where this machine has the file or its debugging information (symbol/dso.h),
 * once for each address: at most SOURCE_LINES_MAX addresses, for more nothing is known.
 *
 * Not for several threads at once: the session's lock protects it.
 */
#ifndef SESSION_SOURCE_LINES_H
#define SESSION_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "session/machine.h"

#define SOURCE_LINES_MAX ((size_t)4 << 20)
#define SOURCE_FRAMES_MAX 64 /* of an address */

struct session;

struct source_frame {
	uint32_t function; /* demangled, a string of the session; 0: not known */
	uint32_t place; /* "file.c:12", likewise; without the file's folder, as in perf */
	/* The whole path, likewise, and the line: only of code of the host, otherwise 0 */
	uint32_t file, line;
};

/* The innermost first: all but the last are inlined into the next. Valid until the next lookup. */
struct source_frames {
	const struct source_frame *items;
	size_t count; /* 0: nothing is known */
};

struct source_lines;

void source_lines_destroy(struct source_lines *lines); /* takes NULL */

/* Of ADDRESS in the file DSO, a number in the session's dsos: an offset in the file. */
struct source_frames source_lines_of_file(struct session *session, uint32_t dso, uint64_t address);
/* Of ADDRESS in MACHINE's KERNEL (or MACHINE_NO_KERNEL) itself, not in its modules. */
struct source_frames source_lines_of_kernel(struct session *session, struct machine *machine,
					    uint32_t kernel, uint64_t address);

#endif
