/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landlock's system calls, which the C library has no functions for; linux/landlock.h and
 * Documentation/userspace-api/landlock.rst. A rule allows actions on everything below a folder, and
 * everything that no rule allows is forbidden.
 *
 * Landlock does not restrict stat(2) and readlink(2), nor changes of owners, modes and times;
 * system_calls.c forbids these.
 */
#include "walls/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "walls/sanitizers.h"

/* Later than the headers that this may be built with. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif

#define FIRST_ACTIONS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) /* of version 1, all 13 */
#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define OF_FILES                                                                                   \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |                              \
	 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_IOCTL_DEV)
#define IN_CACHE                                                                                   \
	(READING | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |                   \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define IN_FOLDER (IN_CACHE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REFER)

struct ruleset {
	int fd;
	uint64_t actions; /* that are forbidden, except where a rule allows them */
};

int landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);

	return version < 0 ? 0 : (int)version;
}

static uint64_t all_actions(int version)
{
	uint64_t actions = FIRST_ACTIONS;

	if (version >= 2)
		actions |= LANDLOCK_ACCESS_FS_REFER;
	if (version >= 3)
		actions |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (version >= 5)
		actions |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	return actions;
}

/* Allows ACTIONS on, or below, what FD is open for. What cannot be allowed stays forbidden. */
static void allow_fd(const struct ruleset *rules, int fd, uint64_t actions)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = actions & rules->actions,
						   .parent_fd = fd };
	struct stat status;

	if (fstat(fd, &status) < 0)
		return;
	if (!S_ISDIR(status.st_mode))
		rule.allowed_access &= OF_FILES;
	syscall(SYS_landlock_add_rule, rules->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void allow(const struct ruleset *rules, const char *path, int flags, uint64_t actions)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC | flags);

	if (fd >= 0)
		allow_fd(rules, fd, actions);
}

/* A folder of this user's, not one that a link leads to. */
static void allow_own(const struct ruleset *rules, const char *path, uint64_t actions)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status) && status.st_uid == geteuid())
		allow_fd(rules, fd, actions);
}

/* Folders of "/" that hold devices and the kernel's files, of which few are needed. */
static bool is_kernels(const char *name)
{
	return !strcmp(name, "dev") || !strcmp(name, "proc") || !strcmp(name, "sys");
}

/* Files of this machine can be at any path: programs, their symbols, recordings. */
static void allow_reading_files(const struct ruleset *rules)
{
	DIR *root = opendir("/");
	const struct dirent *entry;

	while (root && (entry = readdir(root))) {
		int fd;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    is_kernels(entry->d_name))
			continue;
		fd = openat(dirfd(root), entry->d_name, O_PATH | O_CLOEXEC);
		if (fd < 0)
			continue;
		allow_fd(rules, fd, READING);
		close(fd);
	}
	if (root)
		closedir(root);
}

static void allow_reading_kernel(const struct ruleset *rules)
{
	static const char *const paths[] = {
		"/dev/null", "/dev/shm", "/proc/self", "/proc/kallsyms", "/proc/modules",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/kernel/random/boot_id",
		"/proc/sys/vm/overcommit_memory", "/sys/module", "/sys/kernel/notes",
		"/sys/devices/system/cpu",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		allow(rules, paths[i], 0, READING);
}

#ifdef __SANITIZE_ADDRESS__
/* Sanitizers write reports, and look for leaks with the files of /proc. */
static void allow_reports(const struct ruleset *rules)
{
	const char *folder = sanitizer_reports_folder();

	if (folder)
		allow(rules, folder, 0, IN_CACHE);
	allow(rules, "/proc", 0, READING);
}
#endif

static void allow_needs(const struct ruleset *rules, const struct walls *needs)
{
	allow_reading_files(rules);
	allow_reading_kernel(rules);
	for (size_t i = 0; i < sizeof(needs->read) / sizeof(*needs->read); i++)
		if (needs->read[i])
			allow(rules, needs->read[i], 0, READING);
	if (needs->cache)
		allow_own(rules, needs->cache, IN_CACHE);
	if (needs->folder)
		allow(rules, needs->folder, O_DIRECTORY | O_NOFOLLOW, IN_FOLDER);
#ifdef __SANITIZE_ADDRESS__
	allow_reports(rules);
#endif
}

struct error *landlock_restrict(const struct walls *needs)
{
	/* Later versions append fields, for the network and signals, which seccomp forbids. */
	struct {
		uint64_t fs;
	} handled = { all_actions(landlock_version()) };
	_cleanup_close_ int fd =
		(int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	struct ruleset rules = { fd, handled.fs };

	if (fd < 0)
		return error_system(errno, "could not make a Landlock ruleset");
	allow_needs(&rules, needs);
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return error_system(errno, "could not enforce Landlock");
	return NULL;
}
