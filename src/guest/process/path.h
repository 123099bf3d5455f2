/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The path of an open file of a guest, from its dentry and mount, as /proc shows it. */
#ifndef GUEST_PROCESS_PATH_H
#define GUEST_PROCESS_PATH_H

#include <stdbool.h>

#include "guest/kernel/kernel.h"

#define GUEST_PATH_BYTES 4096 /* PATH_MAX */

struct guest_path_reader;

/* Looks up the layouts once; ERROR_UNSUPPORTED as for guest_kernel_layout(). KERNEL is borrowed. */
struct error *guest_path_reader_create(const struct guest_kernel *kernel,
				       struct guest_path_reader **ret) MUST_CHECK;
void guest_path_reader_destroy(struct guest_path_reader *reader); /* takes NULL */

/*
 * The files read until the next call belong to one process: their path components and mounts are
 * limited in total. Paths past the limit are "".
 */
void guest_path_reader_begin(struct guest_path_reader *reader);

struct guest_file {
	char path[GUEST_PATH_BYTES]; /* "" if it cannot be read */
	uint64_t inode;
	uint32_t device_major, device_minor;
};

/*
 * Describes FILE (a struct file). False: it cannot be read. A path that is too long loses its
 * start.
 */
bool guest_file_read(struct guest_path_reader *reader, struct gva file, struct guest_file *ret);
/*
 * The same by the addresses of the file's dentry, vfsmount and inode, when the file itself may have
 * been closed. False also if the dentry belongs to another inode by now.
 */
bool guest_file_read_at(struct guest_path_reader *reader, struct gva dentry, struct gva mount,
			struct gva inode, struct guest_file *ret);

DEFINE_CLEANUP(cleanup_guest_path_reader, struct guest_path_reader *, guest_path_reader_destroy)
#define _cleanup_guest_path_reader_ _cleanup_(cleanup_guest_path_reader)

#endif
