/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between two processes of this program, over a stream socket, with an open file next to
 * them if need be (SCM_RIGHTS, unix(7)): to and from caged processes that get files, and what opens
 * files for a recorder.
 */
#ifndef WALLS_MESSAGES_H
#define WALLS_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sends SIZE bytes of DATA at once, with FILE, which stays open; -1: without a file. */
bool message_send(int fd, const void *data, size_t size, int file);
/* Sends all of DATA; needs no other system calls than a cage admits. */
bool message_send_all(int fd, const void *data, size_t size);

/* Waits for SIZE bytes; *RET_FILE is the file that came with them, or -1. */
bool message_receive(int fd, void *data, size_t size, int *ret_file);
/* Whether there is something to receive, or the end, before that time of CLOCK_MONOTONIC. */
bool message_is_there(int fd, uint64_t deadline_ns);
/* Receives SIZE bytes without a file; false: they did not come before that time. */
bool message_await(int fd, uint64_t deadline_ns, void *data, size_t size);

#endif
