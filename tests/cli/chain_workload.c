/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with frame pointers that call one another in several ways, themselves included. */
#include <sys/stat.h>

static volatile unsigned long sink;

__attribute__((noinline)) void spin(int rounds)
{
	for (int i = 0; i < rounds; i++)
		sink += i;
}

__attribute__((noinline)) void call_kernel(int rounds)
{
	struct stat status;

	for (int i = 0; i < rounds; i++)
		sink ^= i;
	for (int i = 0; i < rounds / 2000; i++)
		stat("/etc/passwd", &status);
	sink++;
}

__attribute__((noinline)) void recurse(int depth, int rounds)
{
	if (depth) {
		recurse(depth - 1, rounds);
		spin(rounds / 4);
	} else {
		call_kernel(rounds);
	}
	sink++;
}

__attribute__((noinline)) void both(int rounds)
{
	spin(rounds);
	call_kernel(rounds / 2);
	sink++;
}

__attribute__((noinline)) void deeper(int rounds)
{
	recurse(3, rounds / 3);
	both(rounds / 5);
	sink++;
}

int main(void)
{
	for (int i = 0; i < 1000; i++) {
		both(100000);
		deeper(200000);
	}
	return 0;
}
