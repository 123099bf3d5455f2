/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is written within the walls, and put in its place by a process from before them. */
#ifndef CMD_OUTPUT_FILE_H
#define CMD_OUTPUT_FILE_H

#include "base/files/replacement.h"
#include "cmd/errand.h"

struct output_file {
	struct replacement file;
	struct errand errand;
};

/* Before the walls are raised. PATH as for replacement_begin(); write to RET->file.out. */
struct error *output_file_begin(const char *path, struct output_file *ret) MUST_CHECK;
/* All was written. *RET_DONE: false: the file could not be put in its place; why was reported. */
struct error *output_file_finish(struct output_file *output, bool *ret_done) MUST_CHECK;
void output_file_deinit(struct output_file *output); /* gives up what is not finished */

#endif
