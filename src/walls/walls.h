/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walls around a process that reads what others wrote: recordings, and the files that they name.
 * Should such a file take the process over, it can do no more than the walls let it: compute, read
 * files, and write to what is open already. Not within the walls: sockets, other processes and
 * programs, new code, devices, other processes' memory, most of /proc and /sys, and writing.
 *
 * Root keeps two capabilities, if it has them: CAP_DAC_READ_SEARCH, for root may read any user's
 * files, and CAP_SYSLOG, without which /proc/kallsyms has no addresses. Other users keep none,
 * even if the program's file gives it some.
 *
 * Which walls there are depends on the kernel: Landlock (5.13) for files, seccomp for everything
 * else. Without Landlock, root becomes nobody, and NEEDS.cache is not used; if a folder must be
 * written to, it stays root, but keeps no capabilities.
 */
#ifndef WALLS_WALLS_H
#define WALLS_WALLS_H

#include <linux/capability.h>
#include <stdbool.h>

#include "base/error.h"
#include "walls/rights.h"

#define WALLS_READ_MAX 20
/* What root keeps. */
#define WALLS_CAPABILITIES (RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_SYSLOG))

/* What a process needs. Strings may be NULL. */
struct walls {
	/* What the user named, wherever it is: files, or folders with everything below them. */
	const char *read[WALLS_READ_MAX];
	/*
	 * Folders, no links: in the first one, if this user owns it, files may be made, replaced
	 * and removed, and below the second one, folders, too.
	 */
	const char *cache, *folder;
	bool terminal; /* it is drawn on: the modes of terminals that are open may be changed */
};

/*
 * Raises the walls, for good. To be called before the first foreign byte is read, and before
 * threads are started. Fails only if a wall that the kernel has cannot be raised.
 */
struct error *walls_raise(const struct walls *needs) MUST_CHECK;

/* The walls that hold, by trying to pass them in a process for the purpose. */
struct walls_held {
	bool writing;	   /* files cannot be written */
	bool devices;	   /* devices and other processes' files cannot be opened */
	bool network;	   /* no sockets */
	bool programs;	   /* no processes can be started */
	bool capabilities; /* none but those above */
};
/* The problem, if the process cannot be started or raises no walls. */
struct error *walls_probe(struct walls_held *ret) MUST_CHECK;

#endif
