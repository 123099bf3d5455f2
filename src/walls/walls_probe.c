/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tries to pass the walls, in a process that ends afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "walls/walls.h"

enum { WRITING = 1, DEVICES = 2, NETWORK = 4, PROGRAMS = 8, CAPABILITIES = 16, NO_WALLS = 32 };

static bool can_open(const char *path, int flags)
{
	_cleanup_close_ int fd = open(path, flags | O_CLOEXEC);

	return fd >= 0;
}

static bool can_connect(void)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd >= 0;
}

static bool can_start(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0;
}

/* capget(2) is not admitted. */
static bool has_capabilities(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/status", "re");
	unsigned long long held;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapPrm: %llx", &held) == 1)
			return held & ~WALLS_CAPABILITIES;
	return true;
}

/* Devices that everyone may open. */
static int try_walls(void)
{
	const struct walls needs = { 0 };
	struct error *error = walls_raise(&needs);

	if (error)
		return NO_WALLS;
	return (can_open("/dev/null", O_WRONLY) ? 0 : WRITING) |
	       (can_open("/dev/zero", O_RDONLY) ? 0 : DEVICES) | (can_connect() ? 0 : NETWORK) |
	       (can_start() ? 0 : PROGRAMS) | (has_capabilities() ? 0 : CAPABILITIES);
}

struct error *walls_probe(struct walls_held *ret)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return error_system(errno, "could not start a process");
	if (!pid)
		_exit(try_walls());
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_system(errno, "could not wait for a process");
	if (!WIFEXITED(status) || WEXITSTATUS(status) >= NO_WALLS)
		return error_create(ERROR_SYSTEM, "could not give up rights");
	*ret = (struct walls_held){
		.writing = WEXITSTATUS(status) & WRITING,
		.devices = WEXITSTATUS(status) & DEVICES,
		.network = WEXITSTATUS(status) & NETWORK,
		.programs = WEXITSTATUS(status) & PROGRAMS,
		.capabilities = WEXITSTATUS(status) & CAPABILITIES,
	};
	return NULL;
}
