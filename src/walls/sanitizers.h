/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Only in builds with ASan: what sanitizers need inside the walls (tests/sanitizer_reports.c). */
#ifndef WALLS_SANITIZERS_H
#define WALLS_SANITIZERS_H

/* The folder in which they write reports; NULL: they write to stderr. */
const char *sanitizer_reports_folder(void);

#endif
