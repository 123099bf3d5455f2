/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what sanitizers report, for tests/tree/test_run.sh: faulty read|add|leak, or, with
 * FAULTY_CAGED in the environment, read or add in the cage.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "walls/cage.h"

static void *volatile lost;

static int read_behind(void)
{
	char *volatile four = malloc(4);

	return four[4];
}

static int add_too_much(void)
{
	volatile int most = INT_MAX;

	return most + 1;
}

static int fail(const char *how)
{
	if (!strcmp(how, "read"))
		return read_behind();
	if (!strcmp(how, "add"))
		return add_too_much();
	lost = malloc(4);
	lost = NULL;
	return 0;
}

/* The caged process, which has no environment, gets a word. */
static int fail_caged(void)
{
	char how[8] = "";

	error_destroy(cage_enter(CAGE_GUEST));
	(void)!recv(CAGE_FD, how, sizeof(how) - 1, 0);
	return fail(how);
}

/* The owner sees nothing but that the caged process ends. */
static int wait_for_caged(const char *how)
{
	struct cage cage;
	char byte;

	error_destroy(cage_start(CAGE_GUEST, &cage));
	(void)!send(cage.fd, how, strlen(how), 0);
	(void)!read(cage.fd, &byte, 1);
	cage_stop(&cage);
	return 0;
}

int main(int argc, char **argv)
{
	const char *caged = getenv("FAULTY_CAGED");

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], CAGE_GUEST_COMMAND))
		_exit(fail_caged());
	return caged ? wait_for_caged(caged) : fail(argv[1]);
}
