/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is at a path where a recording is to be written: only a recording makes room for another. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/files/untrusted.h"
#include "perfdata/format.h"
#include "perfdata/writer/writer.h"

/* Byte order has no part in it; an empty file holds nothing that could be lost. */
static bool is_recording_file(const char *path)
{
	static const uint64_t magics[] = { FORMAT_MAGIC, FORMAT_MAGIC_OLD };
	_cleanup_close_ int fd = -1;
	struct stat status;
	uint64_t magic;

	error_destroy(open_untrusted(UNTRUSTED_ANYWHERE, path, 0, &fd));
	if (fd < 0 || fstat(fd, &status))
		return false;
	if (!status.st_size)
		return true;
	if (read(fd, &magic, sizeof(magic)) != sizeof(magic))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (magic == magics[i] || magic == __builtin_bswap64(magics[i]))
			return true;
	return false;
}

static bool is_empty_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool empty = folder;

	while (empty && (entry = readdir(folder)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (folder)
		closedir(folder);
	return empty;
}

/* Nothing at all is no obstacle either; what may not be read is somebody else's. */
static bool may_be_replaced(const char *path)
{
	_cleanup_free_ char *data = memory_printf("%s/data", path);
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT;
	return is_recording_file(path) || is_recording_file(data) || is_empty_folder(path);
}

char *perfdata_path_with(const char *path, const char *suffix)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return memory_printf("%.*s.%s", (int)length, path, suffix);
}

struct error *perfdata_check_replaceable(const char *path, const char *hint)
{
	_cleanup_free_ char *old = perfdata_path_with(path, "old");
	struct error *error;
	struct stat status;

	if (lstat(path, &status))
		return NULL;
	if (!may_be_replaced(path))
		error = error_create(ERROR_UNSUPPORTED,
				     "'%s' is not a recording and was not replaced", path);
	else if (!may_be_replaced(old))
		error = error_create(ERROR_UNSUPPORTED,
				     "'%s' would be renamed to '%s', which is not a recording and "
				     "is left alone", path, old);
	else
		return perfdata_directory_check_parts(old);
	return error_hint(error, "%s", hint);
}
