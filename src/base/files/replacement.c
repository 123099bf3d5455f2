/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are written next to their place and renamed: mkstemp(3), rename(2). */
#include "base/files/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"

#define MAX_LINKS 40 /* as in the kernel */

static struct error *could_not_write(const char *path)
{
	return error_system(errno, "could not write '%s'", path);
}

/* Whether the link, which FD is open on, is one of /proc: it leads to what is open, to no path. */
static bool is_proc_link(int fd)
{
	struct statfs status;

	return !fstatfs(fd, &status) && status.f_type == PROC_SUPER_MAGIC;
}

/* What the link at PATH, which FD is open on, says, as seen from where PATH is. */
static struct error *read_link(const char *path, int fd, char **ret)
{
	const char *slash = strrchr(path, '/');
	char text[PATH_MAX];
	ssize_t length = readlinkat(fd, "", text, sizeof(text));

	if (length <= 0 || length == sizeof(text))
		return could_not_write(path);
	text[length] = '\0';
	*ret = *text == '/' || !slash
		       ? memory_strdup(text)
		       : memory_printf("%.*s%s", (int)(slash - path + 1), path, text);
	return NULL;
}

/* Follows the link at *PATH, which FD is open on. */
static struct error *follow_link(char **path, int *fd)
{
	struct stat status;
	struct error *error;
	char *next;

	if (fstat(*fd, &status))
		return could_not_write(*path);
	if (status.st_uid && status.st_uid != geteuid())
		return error_hint(error_create(ERROR_PERMISSION, "'%s' is another user's link",
					       *path), "name the file itself");
	if (is_proc_link(*fd)) {
		close(*fd);
		*fd = open(*path, O_PATH | O_CLOEXEC);
		next = realpath(*path, NULL);
		error = *fd < 0 ? could_not_write(*path) : NULL;
	} else {
		error = read_link(*path, *fd, &next);
		if (error)
			return error;
		close(*fd);
		*fd = open(next, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		error = *fd < 0 ? error_create(ERROR_USAGE,
					       "'%s' is a link to something that is not there",
					       *path)
				: NULL;
	}
	if (next) {
		free(*path);
		*path = next;
	}
	return error;
}

/*
 * Opens what is at *PATH, and makes *PATH the path of that, without links at its end. Each link is
 * looked at before it is followed, and nothing is looked up again by its name. *RET_FD is -1 if
 * nothing is there.
 */
static struct error *open_place(char **path, int *ret_fd, struct stat *ret)
{
	int fd = open(*path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct error *error = NULL;

	for (int links = 0; fd >= 0 && !error; links++) {
		if (fstat(fd, ret))
			error = could_not_write(*path);
		else if (!S_ISLNK(ret->st_mode))
			break;
		else if (links == MAX_LINKS)
			error = error_system(ELOOP, "could not write '%s'", *path);
		else
			error = follow_link(path, &fd);
	}
	if (error && fd >= 0)
		close(fd);
	*ret_fd = error ? -1 : fd;
	return error;
}

static FILE *open_again(int fd)
{
	_cleanup_free_ char *path = memory_printf("/proc/self/fd/%d", fd);

	return fopen(path, "we");
}

static FILE *open_beside(struct replacement *new)
{
	int fd;

	new->beside = memory_printf("%s.XXXXXX", new->path);
	fd = mkostemp(new->beside, O_CLOEXEC);
	if (fd < 0)
		free(take_pointer(new->beside));
	return fd < 0 ? NULL : fdopen(fd, "w");
}

struct error *replacement_begin(const char *path, struct replacement *ret)
{
	_cleanup_replacement_ struct replacement new = { .path = memory_strdup(path) };
	_cleanup_close_ int place = -1;
	struct stat status;
	struct error *error = open_place(&new.path, &place, &status);

	if (error)
		return error;
	new.out = place >= 0 && !S_ISREG(status.st_mode) ? open_again(place) : open_beside(&new);
	if (!new.out)
		return could_not_write(path);
	*ret = new;
	new = (struct replacement){ 0 };
	return NULL;
}

struct error *replacement_close(struct replacement *replacement)
{
	FILE *out = take_pointer(replacement->out);
	bool failed = fflush(out) || ferror(out);
	int errno_value = errno;

	if (fclose(out) && !failed) {
		failed = true;
		errno_value = errno;
	}
	if (failed)
		return error_system(errno_value, "could not write '%s'", replacement->path);
	return NULL;
}

struct error *replacement_put(struct replacement *replacement)
{
	if (replacement->beside && rename(replacement->beside, replacement->path))
		return could_not_write(replacement->path);
	free(take_pointer(replacement->beside));
	return NULL;
}

void replacement_deinit(struct replacement *replacement)
{
	if (replacement->out)
		fclose(replacement->out);
	if (replacement->beside)
		unlink(replacement->beside);
	free(replacement->beside);
	free(replacement->path);
	*replacement = (struct replacement){ 0 };
}
