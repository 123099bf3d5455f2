/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache file is the key as a u64, and a table in byte form. It is written to a temporary file and
 * renamed, so that a reader sees either all of the old one or all of the new one, and is searched
 * where it is mapped. A file owned by another user, who could give functions false names, is not
 * read. If there are too many tables, or they are too large, all are deleted, and those in use are
 * created again.
 */
#include "symbol/table_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "symbol/table_private.h"

#define TABLE_MAX_BYTES ((size_t)256 << 20)
#define CACHE_MAX_BYTES ((uint64_t)512 << 20)
#define CACHE_MAX_FILES 1024

/* The folder, malloc()ed; NULL if there is no place for one. */
static char *cache_folder(bool create)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	_cleanup_free_ char *parent = NULL;
	char *folder;

	if (base && base[0] == '/')
		parent = memory_strdup(base);
	else if (home && home[0] == '/')
		parent = memory_printf("%s/.cache", home);
	else
		return NULL;
	folder = memory_printf("%s/perfvisor", parent);
	if (create) {
		/* If this fails, opening the file fails, too, and is checked. */
		(void)mkdir(parent, 0700);
		(void)mkdir(folder, 0700);
	}
	return folder;
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
	_cleanup_free_ char *folder = cache_folder(false);
	_cleanup_free_ char *path = folder ? memory_printf("%s/%s", folder, name) : NULL;
	_cleanup_mapped_file_ struct mapped_file file = { 0 };
	struct symbol_table *table = NULL;
	struct error *error;

	if (!path)
		return NULL;
	error = file_map_own(path, &file);
	if (!error)
		error = decode(&file, key_of_build(key), &table);
	error_destroy(error);
	return table;
}

/* Folders stay: without a flag, unlinkat() does not remove them. */
static void empty(DIR *folder)
{
	const struct dirent *entry;

	rewinddir(folder);
	while ((entry = readdir(folder)))
		(void)unlinkat(dirfd(folder), entry->d_name, 0);
}

static void keep_small(const char *path)
{
	const struct dirent *entry;
	DIR *folder = opendir(path);
	uint64_t bytes = 0;
	size_t files = 0;
	struct stat stat;

	while (folder && (entry = readdir(folder))) {
		if (fstatat(dirfd(folder), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		files++;
		bytes += stat.st_size;
	}
	if (files > CACHE_MAX_FILES || bytes > CACHE_MAX_BYTES)
		empty(folder);
	if (folder)
		closedir(folder);
}

void table_cache_store(const char *name, uint64_t key, const struct symbol_table *table)
{
	_cleanup_free_ char *folder = cache_folder(true);
	_cleanup_free_ char *path = NULL, *temporary = NULL;
	_cleanup_buffer_ struct buffer bytes;
	_cleanup_close_ int fd = -1;
	struct error *error;

	buffer_init(&bytes, TABLE_MAX_BYTES);
	if (!folder)
		return;
	keep_small(folder);
	path = memory_printf("%s/%s", folder, name);
	temporary = memory_printf("%s/.%s.XXXXXX", folder, name);
	buffer_append_u64(&bytes, key_of_build(key));
	symbol_table_encode(table, &bytes);
	fd = bytes.overflow ? -1 : mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	error = file_write_all(fd, bytes.data, bytes.size, temporary);
	if (error || rename(temporary, path) < 0)
		(void)unlink(temporary);
	error_destroy(error);
}
