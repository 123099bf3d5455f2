/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is a folder: its main file is called `data` (tools/perf/util/data.c). */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "perfdata/writer/writer.h"

/* debug/PATH/xxyyyy…, where PATH has at most 32 components (src/cmd/convert/native_symbols.c) */
#define MAX_DEPTH 40

/* The folders of a recording. Which files each may hold: is_part() */
enum place {
	RECORDING, /* data, and data.0, data.1… of `perf record --threads` */
	KCORE,	   /* kcore_dir, kcore_dir__PID: what the kernel's symbols are */
	DEBUG,	   /* debug, and the folders in it that are no BUILD */
	BUILD,	   /* a build-id: debug/.build-id/xx/yyyy…, debug/PATH/xxyyyy… */
};

static bool consists_of(const char *name, int (*is_one)(int))
{
	while (*name && is_one((unsigned char)*name))
		name++;
	return !*name;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A recording's file; anything else in the folder belongs to someone else. */
static bool is_part(int folder, enum place place, const char *name)
{
	static const char *const kcore[] = { "kallsyms", "modules", "kcore" };
	static const char *const build[] = { "elf", "vdso" };
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return false;
	switch (place) {
	case RECORDING:
		return !strcmp(name, "data") ||
		       (!strncmp(name, "data.", 5) && name[5] && consists_of(name + 5, isdigit));
	case KCORE:
		return is_one_of(name, kcore, sizeof(kcore) / sizeof(*kcore));
	case BUILD:
		return is_one_of(name, build, sizeof(build) / sizeof(*build));
	case DEBUG:
		break;
	}
	return false;
}

/* False: recordings have no folder NAME there. */
static bool inner_place(enum place place, const char *name, enum place *ret)
{
	switch (place) {
	case RECORDING:
		*ret = strcmp(name, "debug") ? KCORE : DEBUG;
		return *ret == DEBUG || !strcmp(name, "kcore_dir") ||
		       (!strncmp(name, "kcore_dir__", 11) && consists_of(name + 11, isdigit));
	case DEBUG:
	case BUILD: /* or a part of a guest's path that looks like one */
		*ret = consists_of(name, isxdigit) ? BUILD : DEBUG;
		return true;
	case KCORE:
		break;
	}
	return false;
}

static char *walk_parts(int parent, const char *name, enum place place, int depth, bool remove);

/* Of one entry: NULL if it is a part, or a folder of nothing else. */
static char *walk_entry(int folder, const char *name, enum place place, int depth, bool remove)
{
	enum place inner;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return NULL;
	if (is_part(folder, place, name)) {
		if (remove)
			unlinkat(folder, name, 0);
		return NULL;
	}
	if (depth >= MAX_DEPTH || !inner_place(place, name, &inner))
		return memory_strdup(name);
	return walk_parts(folder, name, inner, depth + 1, remove);
}

/*
 * Looks through the folder NAME of PARENT. Returns the path of something that is no part of a
 * recording, to be freed, or NULL. REMOVE: removes the parts, and then the folder if it is empty.
 */
static char *walk_parts(int parent, const char *name, enum place place, int depth, bool remove)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	char *found = NULL, *other;
	struct dirent *entry;

	if (!folder && fd >= 0)
		close(fd);
	if (!folder) /* a file, say, or not readable */
		return memory_strdup(name);
	while ((remove || !found) && (entry = readdir(folder))) {
		other = walk_entry(fd, entry->d_name, place, depth, remove);
		if (other && !found)
			found = memory_printf("%s/%s", name, other);
		free(other);
	}
	closedir(folder);
	if (remove)
		unlinkat(parent, name, AT_REMOVEDIR);
	return found;
}

struct error *perfdata_directory_check_parts(const char *path)
{
	_cleanup_free_ char *other = NULL;
	struct stat status;

	if (lstat(path, &status) || !S_ISDIR(status.st_mode))
		return NULL;
	other = walk_parts(AT_FDCWD, path, RECORDING, 0, false);
	if (!other)
		return NULL;
	return error_hint(error_create(ERROR_UNSUPPORTED, "'%s' would be removed, but '%s' is not "
							  "part of a recording", path, other),
			  "remove or rename '%s', or choose another folder with -o", path);
}

/* What was at PATH and at PATH.old, until something new is at PATH. */
struct room {
	const char *path;
	char *old;
	char *aside, *older; /* what was at PATH.old: OLDER, in the folder ASIDE; NULL: nothing */
	bool moved;	     /* PATH to PATH.old */
};

static struct error *put_aside(struct room *room)
{
	_cleanup_free_ char *aside = perfdata_path_with(room->path, "XXXXXX");
	_cleanup_free_ char *older = NULL;
	struct stat status;
	struct error *error;

	if (lstat(room->old, &status))
		return NULL;
	error = perfdata_directory_check_parts(room->old);
	if (error)
		return error;
	if (!mkdtemp(aside))
		return error_system(errno, "could not make a folder next to '%s'", room->path);
	older = memory_printf("%s/old", aside);
	if (rename(room->old, older)) {
		error = error_system(errno, "could not rename '%s'", room->old);
		rmdir(aside);
		return error;
	}
	room->aside = take_pointer(aside);
	room->older = take_pointer(older);
	return NULL;
}

static struct error *make_room(struct room *room)
{
	struct error *error;
	struct stat status;

	if (lstat(room->path, &status))
		return NULL;
	error = put_aside(room);
	if (error)
		return error;
	room->moved = !rename(room->path, room->old);
	return room->moved ? NULL : error_system(errno, "could not rename '%s' to '%s'",
						 room->path, room->old);
}

/* Puts everything back where it was. */
static void undo(struct room *room)
{
	if (room->moved && rename(room->old, room->path))
		log_warning("'%s' is now called '%s'", room->path, room->old);
	else if (room->aside && rename(room->older, room->old))
		log_warning("'%s' is now called '%s'", room->old, room->older);
	else if (room->aside)
		rmdir(room->aside);
}

static void remove_older(struct room *room)
{
	if (!room->aside)
		return;
	if (unlink(room->older))
		perfdata_directory_remove(room->older);
	if (rmdir(room->aside))
		log_warning("'%s' could not be removed", room->older);
}

/* Makes room at PATH, and fills it with the folder BESIDE, or with a new one for NULL. */
static struct error *put_at(const char *path, const char *beside)
{
	struct room room = { .path = path, .old = perfdata_path_with(path, "old") };
	struct error *error = make_room(&room);

	if (!error && (beside ? rename(beside, path) : mkdir(path, 0700)))
		error = beside ? error_system(errno, "could not rename '%s' to '%s'", beside, path)
			       : error_system(errno, "could not create the folder '%s'", path);
	if (error)
		undo(&room);
	else
		remove_older(&room);
	free(room.old);
	free(room.aside);
	free(room.older);
	return error;
}

struct error *perfdata_directory_create(const char *path, char **ret_file)
{
	struct error *error = put_at(path, NULL);

	if (!error)
		*ret_file = memory_printf("%s/data", path);
	return error;
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
	return put_at(path, beside);
}

void perfdata_directory_remove(const char *path)
{
	free(walk_parts(AT_FDCWD, path, RECORDING, 0, true));
}
