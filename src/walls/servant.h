/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that does for its owner what may take forever and cannot be interrupted: opening a file
 * of another user's file system, reading another process's memory. It has the rights of its owner
 * and none of its files. It is a fork, for a program that opens or reads anything for whoever
 * starts it would be a gift where the program's file has capabilities. So it is best started before
 * there are threads and much memory.
 */
#ifndef WALLS_SERVANT_H
#define WALLS_SERVANT_H

#include <sys/types.h>

#include "base/error.h"

struct servant {
	pid_t pid; /* 0: not started */
	int fd;	   /* the owner's end of a socket; questions and answers are messages.h's */
};

/*
 * SERVE answers questions in the process until it cannot receive any more, which means that the
 * owner has ended.
 */
struct error *servant_start(void (*serve)(int fd, void *context), void *context,
			    struct servant *ret) MUST_CHECK;
/* Does not wait for one that hangs. Nothing to do if it was not started. */
void servant_stop(struct servant *servant);

#endif
