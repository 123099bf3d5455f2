/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate/source_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/untrusted.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/vector.h"

struct source_text {
	char *bytes; /* NULL: the file is not shown */
	size_t size;
	VECTOR(uint32_t) starts; /* of lines */
};

struct source_texts {
	struct intern *paths; /* their numbers, less one, are indices in: */
	VECTOR(struct source_text) files;
	size_t bytes; /* of all files */
};

struct source_texts *source_texts_create(void)
{
	struct source_texts *texts = memory_calloc(1, sizeof(*texts));

	texts->paths = intern_create();
	return texts;
}

void source_texts_destroy(struct source_texts *texts)
{
	if (!texts)
		return;
	for (size_t i = 0; i < texts->files.count; i++) {
		free(texts->files.items[i].bytes);
		vector_deinit(&texts->files.items[i].starts);
	}
	vector_deinit(&texts->files);
	intern_destroy(texts->paths);
	free(texts);
}

/* As far as it can be read: the file may become shorter. */
static size_t read_bytes(int fd, char *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, bytes + done, size - done, done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += got;
	}
	return done;
}

static void find_lines(struct source_text *text)
{
	const char *at = text->bytes, *end = text->bytes + text->size;

	while (at && at < end) {
		vector_append(&text->starts, at - text->bytes);
		at = memchr(at, '\n', end - at);
		at = at ? at + 1 : NULL;
	}
}

/* Nobody is shown what only they may read because a program's author named it. */
static void read_file(struct source_texts *texts, const char *path, struct source_text *ret)
{
	_cleanup_close_ int fd = -1;
	struct stat status;

	if (*path != '/')
		return;
	error_destroy(open_untrusted(UNTRUSTED_ANYWHERE, path, UNTRUSTED_NOT_EMPTY, &fd));
	if (fd < 0 || fstat(fd, &status) || !(status.st_mode & S_IROTH) ||
	    status.st_size > (off_t)SOURCE_TEXT_FILE_BYTES ||
	    status.st_size > (off_t)(SOURCE_TEXT_ALL_BYTES - texts->bytes))
		return;
	ret->bytes = memory_alloc(status.st_size);
	ret->size = read_bytes(fd, ret->bytes, status.st_size);
	texts->bytes += status.st_size;
	find_lines(ret);
}

static const struct source_text *find_file(struct source_texts *texts, const char *path)
{
	uint32_t number = intern_text(texts->paths, path) - 1;

	if (number == texts->files.count) {
		struct source_text text = { 0 };

		read_file(texts, path, &text);
		vector_append(&texts->files, text);
	}
	return &texts->files.items[number];
}

const char *source_texts_line(struct source_texts *texts, const char *path, uint32_t line,
			      size_t *ret_bytes)
{
	const struct source_text *text;
	const char *start, *end;

	if (!*path)
		return NULL;
	text = find_file(texts, path);
	if (!line || line > text->starts.count)
		return NULL;
	start = text->bytes + text->starts.items[line - 1];
	end = text->bytes + (line < text->starts.count ? text->starts.items[line] : text->size);
	while (start < end && isspace((unsigned char)end[-1]))
		end--;
	while (start < end && isspace((unsigned char)*start))
		start++;
	*ret_bytes = end - start;
	return start < end ? start : NULL;
}
