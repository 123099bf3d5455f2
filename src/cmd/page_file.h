/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a command writes a flame graph's page: a file that it may replace, or standard output. */
#ifndef CMD_PAGE_FILE_H
#define CMD_PAGE_FILE_H

#include "cmd/output_file.h"
#include "output/flamegraph.h"

struct page_file {
	const char *path; /* borrowed; "-": standard output */
	struct output_file output;
};

/*
 * Before the walls are raised. A file that is no page of perfvisor's is replaced only with FORCE.
 */
struct error *page_file_begin(const char *path, bool force, struct page_file *ret) MUST_CHECK;
/* RET_STATUS is the command's: 1 if the file could not be put in its place; why was reported. */
struct error *page_file_write(struct page_file *file, const struct flamegraph_page *page,
			      int *ret_status) MUST_CHECK;
void page_file_deinit(struct page_file *file); /* takes what is zeroed */

#endif
