/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process without rights, for parsing what a guest controls: no capability, no file, no network,
 * no new process; only a socket to its owner, memory, and the clock.
 */
#ifndef HOST_INSPECT_CAGE_H
#define HOST_INSPECT_CAGE_H

#include <sys/types.h>

#include "base/error.h"

/* The descriptor of the socket in the caged process. */
#define HOST_CAGE_FD 3
/* The hidden subcommand that cage_start() runs this program with. */
#define HOST_CAGE_COMMAND "guest-parser"

struct host_cage {
	pid_t pid;
	int fd; /* the owner's end of the socket */
};

/* Starts this program again, as HOST_CAGE_COMMAND, with an address space of its own. */
struct error *host_cage_start(struct host_cage *ret) MUST_CHECK;
/* Ends it, and waits for that. */
void host_cage_stop(struct host_cage *cage);

/* In the new process: gives up everything but HOST_CAGE_FD and stderr. */
struct error *host_cage_enter(void) MUST_CHECK;

#endif
