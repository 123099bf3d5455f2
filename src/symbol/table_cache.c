/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache file is the key as a u64, and a table in byte form. It is written to a temporary file and
 * renamed, so that a reader sees either all of the old one or all of the new one, and is searched
 * where it is mapped. A file or a folder of another user, who could give functions false names, is
 * not used, nor a folder that is a symbolic link. If there are too many tables, or they are too
 * large, all are deleted, and those in use are created again. Other files are left alone.
 */
#include "symbol/table_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/files/untrusted.h"
#include "symbol/table_private.h"

#define TABLE_MAX_BYTES ((size_t)256 << 20)
#define CACHE_MAX_BYTES ((uint64_t)512 << 20)
#define CACHE_MAX_FILES 1024

#define SUFFIX ".table"

static bool is_own(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/*
 * The folder that caches are in, malloc()ed; NULL: there is none, or it is another user's: whoever
 * became root may still have that user's environment.
 */
static char *find_parent(bool create)
{
	const char *base = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME");
	_cleanup_free_ char *parent = NULL;

	if (base && base[0] == '/')
		parent = memory_strdup(base);
	else if (home && home[0] == '/' && is_own(home))
		parent = memory_printf("%s/.cache", home);
	else
		return NULL;
	if (create)
		(void)mkdir(parent, 0700); /* if this fails, what follows fails, too */
	return is_own(parent) ? take_pointer(parent) : NULL;
}

char *table_cache_folder(bool create)
{
	_cleanup_free_ char *parent = find_parent(create);
	char *path = parent ? memory_printf("%s/perfvisor", parent) : NULL;

	if (path && create)
		(void)mkdir(path, 0700);
	return path;
}

/* Opens the folder of tables; -1: there is none, or others can write to it. */
static int open_folder(bool create)
{
	_cleanup_free_ char *path = table_cache_folder(create);
	int fd = -1;

	if (path)
		error_destroy(open_own_folder(path, &fd));
	return fd;
}

/* Another build of this program may choose symbols by different rules. */
static uint64_t key_of_build(uint64_t key)
{
	struct stat program;

	return stat("/proc/self/exe", &program) < 0 ? key : key ^ file_stamp(&program);
}

/* The table in FILE, which it takes if it is valid. */
static struct error *decode(struct mapped_file *file, uint64_t key, struct symbol_table **ret)
{
	struct error *error;

	if (file->size < sizeof(key) || memcmp(file->data, &key, sizeof(key)))
		return error_create(ERROR_NOT_FOUND, "the key differs");
	error = symbol_table_decode(file->data + sizeof(key), file->size - sizeof(key), ret);
	if (error)
		return error;
	(*ret)->file = *file;
	*file = (struct mapped_file){ 0 };
	return NULL;
}

struct symbol_table *table_cache_load(const char *name, uint64_t key)
{
	_cleanup_close_ int folder = open_folder(false);
	_cleanup_mapped_file_ struct mapped_file file = { 0 };
	_cleanup_free_ char *file_name = memory_printf("%s" SUFFIX, name);
	_cleanup_free_ char *root = memory_printf("/proc/self/fd/%d", folder);
	struct symbol_table *table = NULL;
	struct error *error;

	if (folder < 0)
		return NULL;
	error = file_map_own(root, file_name, &file);
	if (!error)
		error = decode(&file, key_of_build(key), &table);
	error_destroy(error);
	return table;
}

/* Anything else in the folder is somebody else's. */
static bool is_table(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(SUFFIX) && !strcmp(name + length - strlen(SUFFIX), SUFFIX);
}

static void empty(DIR *folder)
{
	const struct dirent *entry;

	rewinddir(folder);
	while ((entry = readdir(folder)))
		if (is_table(entry->d_name))
			(void)unlinkat(dirfd(folder), entry->d_name, 0);
}

static void keep_small(int folder_fd)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t bytes = 0;
	size_t files = 0;
	struct stat stat;

	while (folder && (entry = readdir(folder))) {
		if (!is_table(entry->d_name) ||
		    fstatat(dirfd(folder), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		files++;
		bytes += stat.st_size;
	}
	if (files > CACHE_MAX_FILES || bytes > CACHE_MAX_BYTES)
		empty(folder);
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
}

void table_cache_store(const char *name, uint64_t key, const struct symbol_table *table)
{
	_cleanup_close_ int folder = open_folder(true);
	_cleanup_free_ char *file_name = memory_printf("%s" SUFFIX, name);
	_cleanup_free_ char *temporary = memory_printf(".%d.%s", getpid(), file_name);
	_cleanup_buffer_ struct buffer bytes;
	_cleanup_close_ int fd = -1;
	struct error *error;

	buffer_init(&bytes, TABLE_MAX_BYTES);
	if (folder < 0)
		return;
	keep_small(folder);
	buffer_append_u64(&bytes, key_of_build(key));
	symbol_table_encode(table, &bytes);
	if (!bytes.overflow)
		fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	error = file_write_all(fd, bytes.data, bytes.size, temporary);
	if (error || renameat(folder, temporary, folder, file_name) < 0)
		(void)unlinkat(folder, temporary, 0);
	error_destroy(error);
}
