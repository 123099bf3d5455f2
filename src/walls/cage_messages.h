/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between a caged process that parses files and its owner, over their stream socket. Both
 * are of the same build. A question may have an open file next to it (SCM_RIGHTS, unix(7)).
 */
#ifndef WALLS_CAGE_MESSAGES_H
#define WALLS_CAGE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner: sends SIZE bytes of DATA, with FILE, which stays open; -1: without a file. */
bool cage_ask(int fd, const void *data, size_t size, int file);
/* The owner: reads SIZE bytes; false: they did not come before the CLOCK_MONOTONIC time. */
bool cage_hear(int fd, uint64_t deadline_ns, void *data, size_t size);

/* The caged process: waits for SIZE bytes; *RET_FILE is the file that came with them, or -1. */
bool cage_receive(int fd, void *data, size_t size, int *ret_file);
/* The caged process: sends all of DATA. */
bool cage_answer(int fd, const void *data, size_t size);

#endif
