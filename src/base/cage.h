/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process without rights that parses what others control: a guest's memory, or files of debugging
 * information. It has no capabilities, no network, and can neither open files nor start processes;
 * it only has a socket to its owner, memory, and the clock. The owner may pass open files to one of
 * CAGE_LINES, through the socket.
 */
#ifndef BASE_CAGE_H
#define BASE_CAGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The socket's descriptor in the caged process. */
#define CAGE_FD 3

/* What a caged process parses. */
enum cage_kind {
	CAGE_GUEST, /* a guest's memory */
	CAGE_LINES, /* source lines and inlined functions */
};
/* The hidden subcommands with which cage_start() runs this program. */
#define CAGE_GUEST_COMMAND "guest-parser"
#define CAGE_LINES_COMMAND "line-parser"

struct cage {
	pid_t pid;
	int fd; /* the owner's end of the socket */
};

/* Starts this program again, with KIND's command, in an address space of its own. */
struct error *cage_start(enum cage_kind kind, struct cage *ret) MUST_CHECK;
/* Kills the process and waits for it. */
void cage_stop(struct cage *cage);

/* To be called in the new process: gives up everything except CAGE_FD and stderr. */
struct error *cage_enter(enum cage_kind kind) MUST_CHECK;

#endif
