/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process without rights that parses what a guest controls. It has no capabilities, no files, no
 * network, and cannot start processes; it only has a socket to its owner, memory, and the clock.
 */
#ifndef HOST_INSPECT_CAGE_H
#define HOST_INSPECT_CAGE_H

#include <sys/types.h>

#include "base/error.h"

/* The socket's descriptor in the caged process. */
#define HOST_CAGE_FD 3
/* The hidden subcommand with which cage_start() runs this program. */
#define HOST_CAGE_COMMAND "guest-parser"

struct host_cage {
	pid_t pid;
	int fd; /* the owner's end of the socket */
};

/* Starts this program again, as HOST_CAGE_COMMAND, in an address space of its own. */
struct error *host_cage_start(struct host_cage *ret) MUST_CHECK;
/* Kills the process and waits for it. */
void host_cage_stop(struct host_cage *cage);

/* To be called in the new process: gives up everything except HOST_CAGE_FD and stderr. */
struct error *host_cage_enter(void) MUST_CHECK;

#endif
