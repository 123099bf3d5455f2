/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what sanitizers report, for tests/tree/test_run.sh: faulty read|add|leak; or, with one of
 * these words in FAULTY_CAGED, the same in the cage, and with FAULTY_FORKED, in a child that ends
 * without exit handlers.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "walls/cage.h"
#include "walls/sanitizers.h"

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
static void fail_caged(int fd)
{
	char how[8] = "";

	(void)!recv(fd, how, sizeof(how) - 1, 0);
	(void)fail(how);
}

static int fail_forked(const char *how)
{
	pid_t child = fork();

	if (!child) {
		(void)fail(how);
		sanitizer_find_leaks();
		_exit(0);
	}
	return child < 0 || waitpid(child, NULL, 0) < 0;
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
	const char *caged = getenv("FAULTY_CAGED"), *forked = getenv("FAULTY_FORKED");

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], CAGE_GUEST_COMMAND)) {
		error_destroy(cage_serve(CAGE_GUEST, fail_caged));
		_exit(1);
	}
	if (forked)
		return fail_forked(forked);
	return caged ? wait_for_caged(caged) : fail(argv[1]);
}
