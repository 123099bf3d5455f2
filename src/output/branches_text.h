/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counted branches as text, in the layout of `perf report --branch-stack --stdio`. */
#ifndef OUTPUT_BRANCHES_TEXT_H
#define OUTPUT_BRANCHES_TEXT_H

#include "base/error.h"
#include "profile/branches.h"

/* perf's words of --sort, separated by commas; NULL: its default. */
struct error *branches_text_parse_keys(const char *words, struct branch_keys *ret) MUST_CHECK;

/* Rows with a share below MIN_PERCENT are left out. */
struct error *branches_text_write(int fd, const struct branches *branches,
				  const struct branch_keys *keys, double min_percent) MUST_CHECK;

#endif
