/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file of the cache is the key as a u64 and a table's byte form. It is written beside its
 * place and renamed into it, so that a reader sees all of one or all of another. One that
 * belongs to somebody else, who could give functions false names, is not read.
 */
#include "symbol/table_cache.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "symbol/table_private.h"

#define CACHE_MAX_BYTES ((size_t)256 << 20)

/* The folder, malloc()ed; NULL where there is no place for one. */
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
		/* What fails here fails again, and is seen, when the file is opened. */
		(void)mkdir(parent, 0700);
		(void)mkdir(folder, 0700);
	}
	return folder;
}

/* All of the file in memory of its own, *RET_BYTES of it; NULL where it is no good. */
static void *read_own_file(const char *path, size_t *ret_bytes)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	_cleanup_free_ uint8_t *data = NULL;
	struct stat stat;
	size_t got = 0;

	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) ||
	    stat.st_uid != geteuid() || stat.st_size < (off_t)sizeof(uint64_t) ||
	    (uint64_t)stat.st_size > CACHE_MAX_BYTES)
		return NULL;
	data = memory_alloc(stat.st_size);
	while (got < (size_t)stat.st_size) {
		ssize_t bytes = read(fd, data + got, stat.st_size - got);

		if (bytes <= 0)
			return NULL;
		got += bytes;
	}
	*ret_bytes = got;
	return take_pointer(data);
}

struct symbol_table *table_cache_load(const char *name, uint64_t key)
{
	_cleanup_free_ char *folder = cache_folder(false);
	_cleanup_free_ char *path = folder ? memory_printf("%s/%s", folder, name) : NULL;
	_cleanup_free_ uint8_t *data = NULL;
	struct symbol_table *table = NULL;
	size_t bytes = 0;
	struct error *error;

	if (!path)
		return NULL;
	data = read_own_file(path, &bytes);
	if (!data || memcmp(data, &key, sizeof(key)))
		return NULL;
	error = symbol_table_decode(data + sizeof(key), bytes - sizeof(key), &table);
	if (error) {
		error_destroy(error);
		return NULL;
	}
	/* Now the arrays lie in the file's copy, and live as long as the table. */
	if (!table->owned)
		table->owned = take_pointer(data);
	return table;
}

void table_cache_store(const char *name, uint64_t key, const struct symbol_table *table)
{
	_cleanup_free_ char *folder = cache_folder(true);
	_cleanup_free_ char *path = NULL, *temporary = NULL;
	_cleanup_buffer_ struct buffer bytes;
	_cleanup_close_ int fd = -1;
	struct error *error;

	buffer_init(&bytes, CACHE_MAX_BYTES);
	if (!folder)
		return;
	path = memory_printf("%s/%s", folder, name);
	temporary = memory_printf("%s/.%s.XXXXXX", folder, name);
	buffer_append_u64(&bytes, key);
	symbol_table_encode(table, &bytes);
	fd = bytes.overflow ? -1 : mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	error = file_write_all(fd, bytes.data, bytes.size, temporary);
	if (error || rename(temporary, path) < 0)
		(void)unlink(temporary);
	error_destroy(error);
}
