/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/page_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static struct error *check(const char *path, bool force)
{
	struct stat status;

	if (!strcmp(path, "-"))
		return !isatty(STDOUT_FILENO) ? NULL
			: error_hint(error_create(ERROR_USAGE,
						  "refusing to write HTML to a terminal"),
				     "use -o FILE.html");
	if (force || stat(path, &status) || !S_ISREG(status.st_mode) || flamegraph_is_page(path))
		return NULL;
	return error_hint(error_create(ERROR_UNSUPPORTED,
				       "'%s' is not a perfvisor page and was not replaced", path),
			  "name another file, or --force");
}

struct error *page_file_begin(const char *path, bool force, struct page_file *ret)
{
	struct error *error = check(path, force);

	ret->path = path;
	if (!error && strcmp(path, "-"))
		error = output_file_begin(path, &ret->output);
	return error;
}

struct error *page_file_write(struct page_file *file, const struct flamegraph_page *page,
			      int *ret_status)
{
	FILE *out = file->output.file.out ? file->output.file.out : stdout;
	struct error *error;
	struct stat status;
	bool done;

	flamegraph_write(out, page);
	if (out == stdout)
		return NULL; /* main() checks it */
	error = output_file_finish(&file->output, &done);
	*ret_status = done ? 0 : 1;
	if (!error && done && !stat(file->path, &status) && S_ISREG(status.st_mode))
		log_note("wrote '%s': open it in a browser", file->path);
	return error;
}

void page_file_deinit(struct page_file *file)
{
	output_file_deinit(&file->output);
}
