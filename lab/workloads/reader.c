/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel load: reads 64 KiB from /dev/urandom, repeatedly. */
#include <fcntl.h>
#include <unistd.h>

#include "leave_guest.h"

int main(void)
{
	static char bytes[64 << 10];
	int fd = open("/dev/urandom", O_RDONLY);

	for (unsigned int i = 0; read(fd, bytes, sizeof(bytes)) > 0; i++)
		if (i % 64 == 0)
			leave_guest();
	return 1;
}
