/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A replacement that an errand puts in its place, or removes. */
#include "cmd/output_file.h"

static struct error *put(void *file)
{
	return replacement_put(file);
}

static void give_up(void *file)
{
	replacement_deinit(file);
}

struct error *output_file_begin(const char *path, struct output_file *ret)
{
	struct errand_work work = { put, give_up, &ret->file };
	struct error *error = replacement_begin(path, &ret->file);

	return error ? error : errand_start(&work, &ret->errand);
}

struct error *output_file_finish(struct output_file *output, bool *ret_done)
{
	struct error *error = replacement_close(&output->file);

	*ret_done = !error && errand_do(&output->errand);
	return error;
}

void output_file_deinit(struct output_file *output)
{
	errand_end(&output->errand);
	replacement_deinit(&output->file);
}
