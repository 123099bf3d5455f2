/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only way to open a path that somebody else names or fills: one in a recording, of a guest, of
 * another process, or in a folder that another user can write to. Nothing but a regular file is
 * opened, and what it is becomes known before it is opened: opening a device can have side effects,
 * opening a FIFO can take forever, and /proc/kmsg, which looks like a regular file, loses what is
 * read. tests/tree/opens.txt lists who may open files in other ways, and why.
 *
 * Not prevented: reading a file of a network file system or of FUSE can take as long as its server
 * wants.
 */
#ifndef BASE_UNTRUSTED_H
#define BASE_UNTRUSTED_H

#include <stdbool.h>

#include "base/error.h"

enum untrusted_rules {
	UNTRUSTED_NOT_EMPTY = 1 << 0,
	/* Owned by this process's user; and no symbolic link in PATH is followed. */
	UNTRUSTED_OWN = 1 << 1,
	/* A socket instead of a regular file. The descriptor is only good for /proc/self/fd. */
	UNTRUSTED_SOCKET = 1 << 2,
	/* PATH was made by this program, and its last part is such a link of /proc. */
	UNTRUSTED_PROC_LINK = 1 << 3,
};

/* A root for paths that may be anywhere. */
#define UNTRUSTED_ANYWHERE ""

/*
 * Opens the regular file PATH for reading. PATH is resolved as if ROOT were the root folder:
 * neither links nor ".." lead out of it. Links of /proc that lead to open files are not followed in
 * PATH, but in ROOT. RULES: of enum untrusted_rules.
 *
 * ERROR_NOT_FOUND: no such file. ERROR_BAD_DATA: not a regular file, one of a file system that the
 * kernel makes up (/proc, /sys), or empty. ERROR_PERMISSION also for another owner.
 *
 * Uses openat2(2). On kernels without it (before 5.6), no link below ROOT is followed at all.
 */
struct error *open_untrusted(const char *root, const char *path, unsigned int rules,
			     int *ret_fd) MUST_CHECK;

/*
 * Opens the folder PATH, to be used with openat(2) and the like. It must be owned by this process's
 * user, who alone may write to it, and must not be a symbolic link.
 */
struct error *open_own_folder(const char *path, int *ret_fd) MUST_CHECK;

/* Whether only this process's user and root can change the open file FD. */
bool is_out_of_reach(int fd);

#endif
