/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repeatedly prints the state of memory that nobody should touch on the console:
 *
 *	UNHARMED ROUNDS WRONG REFERENCED DIRTY
 *
 * ROUNDS: how often 8 MB with a pattern were read; WRONG: how many words had changed. A second
 * process loops without touching memory, below stack pages that it has used before: REFERENCED KiB
 * of its stack have the page tables' accessed bit, which was cleared once at the beginning, and
 * DIRTY pages were written to (soft-dirty, Documentation/admin-guide/mm/soft-dirty.rst).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "leave_guest.h"

#define WORDS ((size_t)1 << 20)
#define STACK_BYTES ((size_t)64 << 10)
#define SOFT_DIRTY ((uint64_t)1 << 55)

static uint64_t pattern(uint64_t index)
{
	index = (index + 1) * 0x9e3779b97f4a7c15u;
	return index ^ index >> 29;
}

static size_t count_wrong(const volatile uint64_t *words)
{
	size_t wrong = 0;

	for (size_t i = 0; i < WORDS; i++)
		wrong += words[i] != pattern(i);
	return wrong;
}

static void __attribute__((noinline, noreturn)) spin(void)
{
	for (unsigned int i = 0;; i++) { /* no PAUSE: KVM would be called again and again */
		__asm__ volatile("");
		if (i % (1 << 22) == 0)
			leave_guest();
	}
}

static void __attribute__((noinline, noreturn)) spin_on_deep_stack(void)
{
	volatile char used[STACK_BYTES];

	for (size_t i = 0; i < sizeof(used); i += 512)
		used[i] = (char)i;
	spin();
}

static void clear_bits(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	for (const char *what = "41"; *what; what++) { /* soft-dirty bits, accessed bits */
		int fd = open(path, O_WRONLY);

		if (fd < 0 || write(fd, what, 1) != 1)
			exit(1);
		close(fd);
	}
}

static unsigned long count_dirty(pid_t pid, uint64_t start, uint64_t end)
{
	unsigned long dirty = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY);
	for (; start < end; start += 4096) {
		uint64_t entry;

		if (pread(fd, &entry, sizeof(entry), (off_t)(start / 4096 * sizeof(entry))) !=
		    sizeof(entry))
			exit(1);
		dirty += !!(entry & SOFT_DIRTY);
	}
	close(fd);
	return dirty;
}

/* KiB of the stack that have been accessed, and pages that were written to. */
static unsigned long count_referenced(pid_t pid, unsigned long *ret_dirty)
{
	unsigned long referenced = 0, kib;
	uint64_t start, end;
	int in_stack = 0;
	char path[64], line[512];
	FILE *smaps;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	smaps = fopen(path, "r");
	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			in_stack = strstr(line, "[stack]") != NULL;
		else if (in_stack && sscanf(line, "Referenced: %lu", &kib) == 1) {
			referenced = kib;
			*ret_dirty = count_dirty(pid, start, end);
		}
	}
	fclose(smaps);
	return referenced;
}

int main(void)
{
	volatile uint64_t *words = malloc(WORDS * sizeof(*words));
	FILE *console = fopen("/dev/console", "w");
	pid_t child = fork();
	size_t wrong = 0;

	if (!words || !console || child < 0)
		return 1;
	if (!child)
		spin_on_deep_stack();
	for (size_t i = 0; i < WORDS; i++)
		words[i] = pattern(i);
	sleep(1);
	clear_bits(child);
	for (unsigned rounds = 1;; rounds++) {
		unsigned long dirty = 0, referenced = count_referenced(child, &dirty);

		wrong += count_wrong(words);
		fprintf(console, "UNHARMED %u %zu %lu %lu\n", rounds, wrong, referenced, dirty);
		fflush(console);
		usleep(300000);
	}
}
