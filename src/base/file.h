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
	bool of_disk; /* a regular file's: file_release() may drop what is in memory of it */
};

/* Maps a regular file for reading. Something else (a FIFO, a folder) is an error. */
struct error *file_map(const char *path, struct mapped_file *ret) MUST_CHECK;
/* The same of a file that belongs to this process's user and is no link: nobody else made it. */
struct error *file_map_own(const char *path, struct mapped_file *ret) MUST_CHECK;
/*
 * All of PATH, whatever kind of file it is, or of standard input if PATH is "-". A regular
 * file is mapped; anything else is read to its end, at most MAX_BYTES, into memory that grows
 * with what comes.
 */
struct error *file_load(const char *path, size_t max_bytes, struct mapped_file *ret) MUST_CHECK;
void file_unmap(struct mapped_file *file); /* of either */
/*
 * Gives the memory of the bytes from START to END back to the system. Whoever reads them after
 * all gets them from the page cache or the disk.
 */
void file_release(const struct mapped_file *file, size_t start, size_t end);

/*
 * Opens the regular file PATH for reading, as it is where ROOT is the root folder: links and ".."
 * lead nowhere else. For paths that a guest or a recording chose. Needs Linux 5.6.
 */
struct error *file_open_below(const char *root, const char *path, int *ret_fd) MUST_CHECK;

/*
 * Reads all of PATH (any kind of file; those of /proc, too) into RET, an initialised
 * buffer whose maximum bounds it, and which gets a terminating 0 behind its size.
 */
struct error *file_read(const char *path, struct buffer *ret) MUST_CHECK;

/* A number, never 0, for a file as it is: one that was written or replaced since has another. */
uint64_t file_stamp(const struct stat *stat);

/* Writes all SIZE bytes, going on after short writes and EINTR. */
struct error *file_write_all(int fd, const void *data, size_t size, const char *path) MUST_CHECK;

#define _cleanup_mapped_file_ _cleanup_(file_unmap)

#endif
