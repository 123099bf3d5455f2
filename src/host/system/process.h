/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Information about a process from /proc. Processes vanish at any time; each of these functions
 * then reports it in its result, and callers must not assume that two successive calls see the same
 * process.
 */
#ifndef HOST_SYSTEM_PROCESS_H
#define HOST_SYSTEM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"

/* The arguments, each followed by a 0 byte, up to COMMAND's maximum size; false: gone. */
bool host_process_command_line(uint32_t pid, struct buffer *command);
/*
 * The name of its main thread (at most 15 bytes), or of its program's file ("exe", needs rights);
 * false: gone or not visible. RET has room for SIZE bytes.
 */
bool host_process_comm(uint32_t pid, char *ret, size_t size);
bool host_process_program(uint32_t pid, char *ret, size_t size);

/*
 * A number that stays the same until the process executes another program, which the kernel then
 * lays out at random, in all of its bits if the program has other rights than the process had
 * (set-uid; personality(2) does not prevent it). 0: gone or not visible. *RET_SECURE, if not NULL:
 * the program has such rights (AT_SECURE, getauxval(3)).
 */
uint64_t host_process_layout(uint32_t pid, bool *ret_secure);

struct host_process_stat {
	char state;		/* as in /proc/PID/stat: R, S, D, T, Z … */
	uint64_t start_time_ns; /* wall clock since 1970 */
	uint64_t start_ticks;	/* since boot: orders processes by age */
	bool kernel_thread;
};

/* False: gone. */
bool host_process_stat(uint32_t pid, struct host_process_stat *ret);

bool host_process_has_thread(uint32_t pid, uint32_t tid);
/* The process of thread TID; 0: there is none. */
uint32_t host_process_of_thread(uint32_t tid);

#endif
