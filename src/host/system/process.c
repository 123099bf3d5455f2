/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/{cmdline,comm,exe,auxv,stat,status,task}, see proc(5). There, start times are clock
 * ticks since boot; they are converted with the current wall clock, so changing the clock shifts
 * them.
 */
#include "host/system/process.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"

#define PF_KTHREAD 0x00200000u /* include/linux/sched.h; in field 9 of stat */

#define AUXV_MAX_BYTES 1024 /* twice what Linux has (AT_VECTOR_SIZE) */

/* Reads up to SIZE - 1 bytes of /proc/PID/FILE and terminates them; -1: does not exist. */
static ssize_t read_small(uint32_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, file);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, size - 1);
	if (got >= 0)
		text[got] = 0;
	return got;
}

bool host_process_command_line(uint32_t pid, struct buffer *command)
{
	char path[64];
	char step[4096];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cmdline", pid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while ((got = read(fd, step, sizeof(step))) > 0) {
		size_t room = command->max_bytes - command->size;

		buffer_append(command, step, (size_t)got < room ? (size_t)got : room);
		if ((size_t)got >= room)
			break;
	}
	return got >= 0;
}

bool host_process_comm(uint32_t pid, char *ret, size_t size)
{
	ssize_t got = read_small(pid, "comm", ret, size);

	if (got > 0 && ret[got - 1] == '\n')
		ret[got - 1] = 0;
	return got > 0;
}

bool host_process_program(uint32_t pid, char *ret, size_t size)
{
	char path[64];
	char target[4096];
	const char *name;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
	got = readlink(path, target, sizeof(target) - 1);
	if (got <= 0)
		return false;
	target[got] = 0;
	name = strrchr(target, '/');
	snprintf(ret, size, "%s", name ? name + 1 : target);
	return true;
}

uint64_t host_process_layout(uint32_t pid, bool *ret_secure)
{
	char text[AUXV_MAX_BYTES + 1];
	ssize_t got = read_small(pid, "auxv", text, sizeof(text));
	bool secure = false;

	for (ssize_t at = 0; at + (ssize_t)sizeof(Elf64_auxv_t) <= got;
	     at += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t entry;

		memcpy(&entry, text + at, sizeof(entry));
		secure |= entry.a_type == AT_SECURE && entry.a_un.a_val;
	}
	if (ret_secure)
		*ret_secure = secure;
	return got > 0 ? hash_bytes(text, got) | 1 : 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}

bool host_process_stat(uint32_t pid, struct host_process_stat *ret)
{
	char text[1024];
	unsigned long flags;
	unsigned long long start_ticks;
	const char *after;
	char state;

	if (read_small(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	/* The name in parentheses may contain anything, including parentheses and spaces. */
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1,
			     " %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
			     " %*d %*d %llu", &state, &flags, &start_ticks) != 3)
		return false;
	ret->state = state;
	ret->kernel_thread = flags & PF_KTHREAD;
	ret->start_ticks = start_ticks;
	ret->start_time_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
			     start_ticks * (1000000000u / sysconf(_SC_CLK_TCK));
	return true;
}

bool host_process_has_thread(uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32, pid, tid);
	return !access(path, F_OK);
}

uint32_t host_process_of_thread(uint32_t tid)
{
	char text[4096];
	const char *line;

	if (read_small(tid, "status", text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "\nTgid:");
	return line ? strtoul(line + 6, NULL, 10) : 0;
}
