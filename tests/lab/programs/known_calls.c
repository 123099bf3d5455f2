/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In a lab guest with the module known_chains: its calls, one after another, each from a function
 * of its own. So a chain through the module is known to the very start of this program.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../lab/workloads/leave_guest.h"

#define KNOWN __attribute__((noipa))
#define PAGE 4096

/* As in known_chains.c. */
enum call { CALL_PROCESS, CALL_MASKED, CALL_DEEP, CALL_COPY };

static int device;
static char *page;

KNOWN static int user_write(enum call call)
{
	long ret;

	asm volatile("syscall"
		     : "=a"(ret)
		     : "0"(SYS_write), "D"(device), "S"(page), "d"((long)call)
		     : "rcx", "r11", "memory");
	return ret == (long)call ? 0 : 1;
}

KNOWN static int user_process(void)
{
	return user_write(CALL_PROCESS) + 1;
}

KNOWN static int user_masked(void)
{
	return user_write(CALL_MASKED) + 1;
}

KNOWN static int user_deep(void)
{
	return user_write(CALL_DEEP) + 1;
}

KNOWN static int user_copy(void)
{
	return user_write(CALL_COPY) + 1;
}

KNOWN static int user_touch(void)
{
	return *(volatile char *)page + 1;
}

KNOWN static int user_round(void)
{
	int sum = user_process() + user_masked() + user_deep() + user_copy();

	madvise(page, PAGE, MADV_DONTNEED);
	sum += user_touch();
	madvise(page, PAGE, MADV_DONTNEED);
	return sum;
}

int main(void)
{
	device = open("/dev/known_chains", O_RDWR);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
	if (device < 0 || page == MAP_FAILED)
		return 1;
	setpriority(PRIO_PROCESS, 0, -5); /* three times what others get */
	for (unsigned int i = 0; user_round() == 5; i++)
		if (i % 64 == 0)
			leave_guest();
	return 1;
}
