/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A path is first opened with O_PATH, which only finds the file, and looked at; then that same file
 * is opened for reading by its link in /proc/self/fd. So nobody can exchange it in between.
 *
 * File systems that the kernel makes up are known by their numbers (linux/magic.h, statfs(2)):
 * their files claim to be regular ones.
 */
#include "base/files/untrusted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/memory.h"

/* Not in linux/magic.h: fs/configfs/mount.c, fs/fuse/control.c, ipc/mqueue.c. */
#define CONFIGFS_MAGIC 0x62656570
#define FUSECTL_MAGIC 0x65735543
#define MQUEUE_MAGIC 0x19800202
#define MAX_DEPTH 64 /* folders in a path, without openat2() */

static bool is_made_up(int fd)
{
	static const uint32_t magics[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, SECURITYFS_MAGIC,
		SELINUX_MAGIC, SMACK_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
		EFIVARFS_MAGIC, PSTOREFS_MAGIC, DEVPTS_SUPER_MAGIC, BINFMTFS_MAGIC, NSFS_MAGIC,
		RDTGROUP_SUPER_MAGIC, XENFS_SUPER_MAGIC, CONFIGFS_MAGIC, FUSECTL_MAGIC,
		MQUEUE_MAGIC,
	};
	struct statfs status;

	if (fstatfs(fd, &status) < 0)
		return true;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if ((uint32_t)status.f_type == magics[i])
			return true;
	return false;
}

/* Without openat2(): folder by folder, and through no link. */
static int find_by_steps(int root_fd, const char *path)
{
	_cleanup_free_ char *copy = memory_strdup(path);
	_cleanup_close_ int place = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	char *rest = copy, *part;
	int depth = 0;

	while (place >= 0 && (part = strsep(&rest, "/"))) {
		struct stat status;
		int next;

		if (!*part || !strcmp(part, "."))
			continue;
		if (!strcmp(part, "..") || depth++ >= MAX_DEPTH) {
			errno = ELOOP;
			return -1;
		}
		next = openat(place, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next >= 0 && !fstat(next, &status) && S_ISLNK(status.st_mode)) {
			close(next);
			errno = ELOOP;
			return -1;
		}
		close(place);
		place = next;
	}
	return take_fd(&place);
}

static bool lacks_openat2(void)
{
	return errno == ENOSYS || errno == EPERM; /* EPERM: some seccomp filters */
}

/* An O_PATH descriptor of PATH; -1 and errno. */
static int find(const char *root, const char *path, unsigned int rules)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int root_fd = -1;
	int place;

	if (*root) {
		root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root_fd < 0)
			return -1;
		how.resolve |= RESOLVE_IN_ROOT;
	}
	if (rules & UNTRUSTED_PROC_LINK)
		how.resolve &= ~(uint64_t)RESOLVE_NO_MAGICLINKS;
	if (rules & UNTRUSTED_OWN)
		how.resolve |= RESOLVE_NO_SYMLINKS;
	place = (int)syscall(SYS_openat2, *root ? root_fd : AT_FDCWD, path, &how, sizeof(how));
	if (place >= 0 || !lacks_openat2())
		return place;
	if (*root)
		return find_by_steps(root_fd, path);
	return open(path, O_PATH | O_CLOEXEC | (rules & UNTRUSTED_OWN ? O_NOFOLLOW : 0));
}

/* PLACE is an O_PATH descriptor. */
static struct error *check(int place, const char *path, unsigned int rules)
{
	struct stat status;

	if (fstat(place, &status) < 0)
		return error_system(errno, "could not open '%s'", path);
	if (rules & UNTRUSTED_SOCKET)
		return S_ISSOCK(status.st_mode)
			       ? NULL
			       : error_create(ERROR_BAD_DATA, "'%s' is not a socket", path);
	if (!S_ISREG(status.st_mode))
		return error_create(ERROR_BAD_DATA, "'%s' is not a regular file", path);
	if (is_made_up(place))
		return error_create(ERROR_BAD_DATA, "'%s' is a file that the kernel makes up",
				    path);
	if (rules & UNTRUSTED_OWN && status.st_uid != geteuid())
		return error_create(ERROR_PERMISSION, "'%s' is owned by another user", path);
	if (rules & UNTRUSTED_NOT_EMPTY && !status.st_size)
		return error_create(ERROR_BAD_DATA, "'%s' is empty", path);
	return NULL;
}

struct error *open_untrusted(const char *root, const char *path, unsigned int rules, int *ret_fd)
{
	_cleanup_close_ int place = find(root, path, rules);
	_cleanup_free_ char *again = NULL;
	struct error *error;

	if (place < 0)
		return *root ? error_system(errno, "could not open '%s' below '%s'", path, root)
			     : error_system(errno, "could not open '%s'", path);
	error = check(place, path, rules);
	if (error)
		return error;
	if (rules & UNTRUSTED_SOCKET) {
		*ret_fd = take_fd(&place);
		return NULL;
	}
	again = memory_printf("/proc/self/fd/%d", place);
	/* O_NONBLOCK: a lease, which its owner may hold, is not waited for (fcntl(2)). */
	*ret_fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return *ret_fd < 0 ? error_system(errno, "could not open '%s'", path) : NULL;
}

struct error *open_own_folder(const char *path, int *ret_fd)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_system(errno, "could not open the folder '%s'", path);
	if (status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH))
		return error_create(ERROR_PERMISSION, "other users can change the folder '%s'",
				    path);
	*ret_fd = take_fd(&fd);
	return NULL;
}

bool is_out_of_reach(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && (status.st_uid == geteuid() || !status.st_uid) &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}
