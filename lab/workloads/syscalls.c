/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many small kinds of kernel load: a byte through a pipe, a stat, a page that is mapped, touched
 * and unmapped.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leave_guest.h"

int main(void)
{
	int ends[2];
	struct stat st;
	char byte = 0;

	if (pipe(ends))
		return 1;
	for (unsigned int i = 0;; i++) {
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			return 1;
		stat("/proc/version", &st);
		char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		if (page == MAP_FAILED)
			return 1;
		*page = 1;
		munmap(page, 4096);
		if (i % 1024 == 0)
			leave_guest();
	}
}
