/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are written next to their place and renamed: mkstemp(3), rename(2). */
#include "base/files/replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static struct error *could_not_write(const char *path)
{
	return error_system(errno, "could not write '%s'", path);
}

/* The file that PATH, which may be a link, leads to; PATH itself if that is not there yet. */
static char *resolve(const char *path)
{
	char *resolved = realpath(path, NULL);

	return resolved ? resolved : memory_strdup(path);
}

struct error *replacement_begin(const char *path, struct replacement *ret)
{
	_cleanup_replacement_ struct replacement new = { .path = resolve(path) };
	struct stat status;
	bool is_there = !stat(new.path, &status);
	int fd;

	if (is_there && !S_ISREG(status.st_mode)) {
		new.out = fopen(new.path, "we");
	} else if (!is_there && !lstat(new.path, &status) && S_ISLNK(status.st_mode)) {
		return error_create(ERROR_USAGE, "'%s' is a link to something that is not there",
				    path);
	} else {
		new.beside = memory_printf("%s.XXXXXX", new.path);
		fd = mkostemp(new.beside, O_CLOEXEC);
		if (fd < 0) {
			free(take_pointer(new.beside));
			return could_not_write(path);
		}
		new.out = fdopen(fd, "w");
	}
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
