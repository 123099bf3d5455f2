/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process without rights that parses what others control: a guest's memory, files of debugging
 * information, or ELF files of other processes. It has no capabilities, no network, no environment,
 * and can neither open files, nor start processes, nor make code; it only has a socket to its
 * owner, a pipe for complaints, memory, and the clock. The owner may pass open files to one of
 * CAGE_LINES or CAGE_ELF, through the socket.
 */
#ifndef WALLS_CAGE_H
#define WALLS_CAGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* The socket's descriptor in the caged process. */
#define CAGE_FD 3

/* What a caged process parses. */
enum cage_kind {
	CAGE_GUEST, /* a guest's memory */
	CAGE_LINES, /* source lines and inlined functions */
	CAGE_ELF,   /* ELF files of the host's processes */
};
/* The hidden subcommands with which cage_start() runs this program. */
#define CAGE_GUEST_COMMAND "guest-parser"
#define CAGE_LINES_COMMAND "line-parser"
#define CAGE_ELF_COMMAND "elf-parser"

struct cage {
	enum cage_kind kind;
	pid_t pid; /* 0: another process started it (walls/cage_keeper.h) */
	int fd; /* the owner's end of the socket */
	int complaints_fd; /* a pipe: what it writes to stderr; not open without a pid */
};

/* Starts this program again, with KIND's command, in an address space of its own. */
struct error *cage_start(enum cage_kind kind, struct cage *ret) MUST_CHECK;
/*
 * Lets the process compute for SECONDS of CPU time from now on; then the kernel ends it. Without
 * effect for a root that lacks CAP_SYS_RESOURCE.
 */
void cage_renew(const struct cage *cage, unsigned int seconds);
/* Kills the process (cage_end_process()). Logs the first bytes of what it wrote to stderr. */
void cage_stop(struct cage *cage);

/*
 * Kills the child PID, which ends anyway when it sees that a socket was closed, and waits for it;
 * but not for long: a process that opens or reads a file cannot be killed before the file system
 * has answered, and a network or FUSE file system may never answer. It then is left to whoever
 * waits for orphans. Builds with sanitizers let it report before.
 */
void cage_end_process(pid_t pid);

/* To be called in the new process: gives up everything except CAGE_FD and stderr. */
struct error *cage_enter(enum cage_kind kind) MUST_CHECK;
/*
 * The same, then calls SERVE with CAGE_FD, and ends the process. Returns only if the cage could not
 * be entered. Builds with sanitizers report memory that SERVE has not freed.
 */
struct error *cage_serve(enum cage_kind kind, void (*serve)(int fd)) MUST_CHECK;

#endif
