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

/*
 * The content of a regular file; anything else (a FIFO, a folder) is an error. The file is mapped
 * if only this process's user and root can change it. Otherwise it is read into memory, if it is
 * not larger than 1 GiB, or than MAX_BYTES.
 */
struct error *file_map(const char *path, struct mapped_file *ret) MUST_CHECK;
/* The same, below ROOT (open_untrusted()). */
struct error *file_map_below(const char *root, const char *path, size_t max_bytes,
			     struct mapped_file *ret) MUST_CHECK;
/*
 * Maps a file, of any size, that is owned by this process's user. ROOT is as for open_untrusted(),
 * and no symlink below it is followed.
 */
struct error *file_map_own(const char *root, const char *path, struct mapped_file *ret) MUST_CHECK;
/*
 * Loads all of PATH, which the user named, whatever kind of file it is, or standard input if PATH
 * is "-". A regular file is mapped or read as by file_map_below(). Anything else is read to its
 * end, at most MAX_BYTES, into memory that grows as needed.
 */
struct error *file_load(const char *path, size_t max_bytes, struct mapped_file *ret) MUST_CHECK;
void file_unmap(struct mapped_file *file); /* unmaps either kind */
/*
 * Gives the memory of the bytes from START to END back to the system. If they are read again, they
 * come from the page cache or the disk.
 */
void file_release(const struct mapped_file *file, size_t start, size_t end);

/*
 * Opens PATH for reading: with a ROOT by open_untrusted(). ROOT NULL: as it is, whatever kind of
 * file it is, for what the user or this program names.
 */
struct error *file_open(const char *root, const char *path, int *ret_fd) MUST_CHECK;

/*
 * Reads all of PATH (any kind of file, including those in /proc) into RET, an initialised buffer
 * whose maximum limits the size. A terminating 0 is added after the data, not counted in its size.
 */
struct error *file_read(const char *path, struct buffer *ret) MUST_CHECK;
/* The same, with a ROOT as for file_open(). */
struct error *file_read_below(const char *root, const char *path, struct buffer *ret) MUST_CHECK;

/* Identifies one version of a file: changes when the file is written or replaced. Never 0. */
uint64_t file_stamp(const struct stat *stat);

/* Writes all SIZE bytes; continues after short writes and EINTR. */
struct error *file_write_all(int fd, const void *data, size_t size, const char *path) MUST_CHECK;

#define _cleanup_mapped_file_ _cleanup_(file_unmap)

#endif
