/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files: mapped or read, with a maximum, and written in one go. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"

struct mapped_file {
	const uint8_t *data; /* NULL for an empty file */
	size_t size;
	bool of_disk; /* a regular file: file_release() may drop its pages from memory */
};

/* Maps a regular file for reading. Anything else (a FIFO, a folder) is an error. */
struct error *file_map(const char *path, struct mapped_file *ret) MUST_CHECK;
/* The same, but the file must be owned by this process's user and not be a symlink. */
struct error *file_map_own(const char *path, struct mapped_file *ret) MUST_CHECK;
/*
 * Loads all of PATH, whatever kind of file it is, or standard input if PATH is "-". A regular file
 * is mapped. Anything else is read to its end, at most MAX_BYTES, into memory that grows as needed.
 */
struct error *file_load(const char *path, size_t max_bytes, struct mapped_file *ret) MUST_CHECK;
void file_unmap(struct mapped_file *file); /* unmaps either kind */
/*
 * Gives the memory of the bytes from START to END back to the system. If they are read again, they
 * come from the page cache or the disk.
 */
void file_release(const struct mapped_file *file, size_t start, size_t end);

/*
 * Opens the regular file PATH for reading, resolved as if ROOT were the root folder: symlinks and
 * ".." cannot escape from it. For paths chosen by a guest or a recording. Needs Linux 5.6.
 */
struct error *file_open_below(const char *root, const char *path, int *ret_fd) MUST_CHECK;

/*
 * Reads all of PATH (any kind of file, including those in /proc) into RET, an initialised buffer
 * whose maximum limits the size. A terminating 0 is added after the data, not counted in its size.
 */
struct error *file_read(const char *path, struct buffer *ret) MUST_CHECK;

/* Identifies one version of a file: changes when the file is written or replaced. Never 0. */
uint64_t file_stamp(const struct stat *stat);

/* Writes all SIZE bytes; continues after short writes and EINTR. */
struct error *file_write_all(int fd, const void *data, size_t size, const char *path) MUST_CHECK;

#define _cleanup_mapped_file_ _cleanup_(file_unmap)

#endif
