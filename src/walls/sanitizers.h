/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Only in builds with ASan: what sanitizers need inside the walls, and in processes that end
 * without exit handlers, of which the search for leaks is one (tests/sanitizer_reports.c).
 */
#ifndef WALLS_SANITIZERS_H
#define WALLS_SANITIZERS_H

#include <stddef.h>

/* The folder in which they write reports; NULL: they write to stderr. */
const char *sanitizer_reports_folder(void);

/* Before the end of a process without a cage: searches for leaks, and reports them. */
void sanitizer_find_leaks(void);

/* A caged process cannot search for leaks, but all of its memory must be free again. */
size_t sanitizer_memory_in_use(void);
/* Reports what is in use above BYTES, which is what was in use before. */
void sanitizer_report_rest(size_t bytes);

#endif
