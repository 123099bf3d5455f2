/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads that do little but take one spinlock of the kernel, that of their table of files:
 * where they run on two CPUs, one of them mostly waits for it, and where they share one, none does.
 */
#include <pthread.h>
#include <unistd.h>

#include "leave_guest.h"

static int ends[2];

static void *work(void *data)
{
	for (unsigned int i = 0;; i++) {
		int copy = dup(ends[0]);

		if (copy >= 0)
			close(copy);
		if (i % 256 == 0)
			leave_guest();
	}
	return data;
}

int main(void)
{
	pthread_t thread;

	if (pipe(ends) || pthread_create(&thread, NULL, work, NULL))
		return 1;
	work(NULL);
}
