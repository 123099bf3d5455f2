/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files that other processes have mapped. A process of its own does that: to look up a path
 * or to open a file can take as long as a network or FUSE file system wants, which the owner of the
 * other process may have mounted, and cannot be interrupted. That process has the rights of its
 * owner, opens files by open_untrusted(), and reads nothing.
 */
#ifndef ELF_MAPPED_FILE_H
#define ELF_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A line of /proc/PID/maps. */
struct mapped_file {
	uint32_t pid;
	uint64_t start, end; /* addresses; the end is exclusive */
	const char *path;
};

struct mapped_file_opener;

struct error *mapped_file_opener_start(struct mapped_file_opener **ret) MUST_CHECK;
/*
 * The very file that is mapped, which only root may open, or else whatever is at its path for that
 * process now; *RET_FD is -1 if there is none that may be opened. False: there was no answer before
 * that time of CLOCK_MONOTONIC, and the opener must be stopped.
 */
bool mapped_file_open(struct mapped_file_opener *opener, const struct mapped_file *file,
		      uint64_t deadline_ns, int *ret_fd);
/* Takes NULL. Does not wait for a process that is waiting for a file system. */
void mapped_file_opener_stop(struct mapped_file_opener *opener);

#endif
