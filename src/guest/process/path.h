/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of an open file of a guest, from its dentry and mount, as /proc shows it. */
#ifndef GUEST_PROCESS_PATH_H
#define GUEST_PROCESS_PATH_H

#include <stdbool.h>

#include "guest/kernel/kernel.h"

#define GUEST_PATH_BYTES 4096 /* PATH_MAX */

struct guest_path_reader;

/* Finds the layouts once; ERROR_UNSUPPORTED as guest_kernel_layout(). KERNEL is borrowed. */
struct error *guest_path_reader_create(const struct guest_kernel *kernel,
				       struct guest_path_reader **ret) MUST_CHECK;
void guest_path_reader_destroy(struct guest_path_reader *reader); /* takes NULL */

/*
 * The files read until the next call are one process's: the path components and mounts of all of
 * them are bounded; paths past that are "".
 */
void guest_path_reader_begin(struct guest_path_reader *reader);

struct guest_file {
	char path[GUEST_PATH_BYTES]; /* "" where it cannot be read */
	uint64_t inode;
	uint32_t device_major, device_minor;
};

/* What FILE (a struct file) is. False: it cannot be read. A path too long is cut at its front. */
bool guest_file_read(struct guest_path_reader *reader, struct gva file, struct guest_file *ret);

DEFINE_CLEANUP(cleanup_guest_path_reader, struct guest_path_reader *, guest_path_reader_destroy)
#define _cleanup_guest_path_reader_ _cleanup_(cleanup_guest_path_reader)

#endif
