/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is a folder: its file is called `data` (tools/perf/util/data.c). */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "perfdata/writer.h"

struct error *perfdata_directory_create(const char *path, char **ret_file)
{
	_cleanup_free_ char *old = memory_printf("%s.old", path);
	struct stat status;

	if (!lstat(path, &status) && rename(path, old))
		return error_hint(error_system(errno, "could not keep '%s' as '%s'", path, old),
				  "remove '%s', or name another folder with -o", old);
	if (mkdir(path, 0700))
		return error_system(errno, "could not make the folder '%s'", path);
	*ret_file = memory_printf("%s/data", path);
	return NULL;
}
