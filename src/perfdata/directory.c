/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is a folder: its main file is called `data` (tools/perf/util/data.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "perfdata/writer/writer.h"

/* debug/PATH/xxyyyy…, where PATH has at most 32 components (src/cmd/convert/native_symbols.c) */
#define MAX_DEPTH 40

/* The files of recordings; anything else in the folder belongs to someone else. */
static bool is_part(const char *name)
{
	static const char *const names[] = {
		"data", "kallsyms", "modules", "kcore", "elf", "vdso"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "data.", 5);
}

/*
 * Removes the parts of a recording in the folder NAME of PARENT, and then the folder if it is
 * empty.
 */
static void remove_parts(int parent, const char *name, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (is_part(entry->d_name) && !unlinkat(fd, entry->d_name, 0))
			continue;
		if (depth < MAX_DEPTH)
			remove_parts(fd, entry->d_name, depth + 1);
	}
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* Removes the recording at PATH, if it is one, to make room for a newer one. */
static void remove_recording(const char *path)
{
	_cleanup_free_ char *file = memory_printf("%s/data", path);

	if (!access(file, F_OK))
		remove_parts(AT_FDCWD, path, 0);
}

static struct error *make_room(const char *path)
{
	_cleanup_free_ char *old = perfdata_path_with(path, "old");
	struct stat status;

	if (lstat(path, &status))
		return NULL;
	remove_recording(old);
	if (rename(path, old))
		return error_hint(error_system(errno, "could not rename '%s' to '%s'", path, old),
				  "remove '%s', or choose another folder with -o", old);
	return NULL;
}

struct error *perfdata_directory_create(const char *path, char **ret_file)
{
	struct error *error = make_room(path);

	if (error)
		return error;
	if (mkdir(path, 0700))
		return error_system(errno, "could not create the folder '%s'", path);
	*ret_file = memory_printf("%s/data", path);
	return NULL;
}

struct error *perfdata_directory_create_beside(const char *path, char **ret_beside, char **ret_file)
{
	_cleanup_free_ char *beside = perfdata_path_with(path, "XXXXXX");

	if (!mkdtemp(beside))
		return error_system(errno, "could not make a folder next to '%s'", path);
	*ret_file = memory_printf("%s/data", beside);
	*ret_beside = take_pointer(beside);
	return NULL;
}

struct error *perfdata_directory_put(const char *beside, const char *path)
{
	struct error *error = make_room(path);

	if (!error && rename(beside, path))
		error = error_system(errno, "could not rename '%s' to '%s'", beside, path);
	return error;
}

void perfdata_directory_remove(const char *beside)
{
	remove_parts(AT_FDCWD, beside, 0);
}
