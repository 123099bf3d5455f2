/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files: mapping, reading with a maximum, writing. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/map.h"
#include "base/memory.h"

#define READ_STEP_BYTES ((size_t)64 * 1024)
#define STREAM_STEP_BYTES ((size_t)1024 * 1024)

static struct error *map_regular(int fd, const char *path, size_t size, struct mapped_file *ret)
{
	void *data;

	if (!size) {
		*ret = (struct mapped_file){ 0 };
		return NULL;
	}
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return error_system(errno, "could not map '%s'", path);
	*ret = (struct mapped_file){ .data = data, .size = size, .of_disk = true };
	return NULL;
}

void file_release(const struct mapped_file *file, size_t start, size_t end)
{
	size_t in_page = sysconf(_SC_PAGESIZE) - 1;

	end = (end < file->size ? end : file->size) & ~in_page;
	start = (start + in_page) & ~in_page;
	if (file->of_disk && start < end)
		madvise((void *)(file->data + start), end - start, MADV_DONTNEED);
}

static struct error *map_path(const char *path, int flags, bool only_own, struct mapped_file *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return error_system(errno, "could not open '%s'", path);
	if (!S_ISREG(stat.st_mode))
		return error_create(ERROR_BAD_DATA, "'%s' is not a regular file", path);
	if (only_own && stat.st_uid != geteuid())
		return error_create(ERROR_PERMISSION, "'%s' is owned by another user", path);
	return map_regular(fd, path, stat.st_size, ret);
}

struct error *file_map(const char *path, struct mapped_file *ret)
{
	return map_path(path, 0, false, ret);
}

struct error *file_map_own(const char *path, struct mapped_file *ret)
{
	return map_path(path, O_NOFOLLOW, true, ret);
}

struct error *file_open_below(const char *root, const char *path, int *ret_fd)
{
	_cleanup_close_ int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int place = -1;
	_cleanup_free_ char *reopened = NULL;
	struct stat stat;

	if (root_fd < 0)
		return error_system(errno, "could not open '%s'", root);
	place = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	if (place < 0 || fstat(place, &stat) < 0)
		return error_system(errno, "could not open '%s' below '%s'", path, root);
	/* Check before opening for reading: with some devices open() alone has side effects. */
	if (!S_ISREG(stat.st_mode))
		return error_create(ERROR_BAD_DATA, "'%s' is not a regular file", path);
	reopened = memory_printf("/proc/self/fd/%d", place);
	*ret_fd = open(reopened, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return *ret_fd < 0 ? error_system(errno, "could not open '%s' below '%s'", path, root)
			   : NULL;
}

/* Reads FD to its end into *DATA, a mapping of *CAPACITY bytes, which mremap() grows. */
static struct error *read_stream(int fd, const char *path, size_t max_bytes, uint8_t **data,
				 size_t *capacity, size_t *size)
{
	for (;;) {
		ssize_t got = read(fd, *data + *size, *capacity - *size);
		void *grown;

		if (got == 0)
			return NULL;
		if (got < 0 && errno != EINTR)
			return error_system(errno, "could not read '%s'", path);
		*size += got > 0 ? got : 0;
		if (*size < *capacity)
			continue;
		if (*capacity > max_bytes / 2)
			return error_create(ERROR_SYSTEM, "'%s' is larger than %zu MB", path,
					    *capacity >> 20);
		grown = mremap(*data, *capacity, 2 * *capacity, MREMAP_MAYMOVE);
		if (grown == MAP_FAILED)
			return error_system(errno, "not enough memory for '%s'", path);
		*data = grown;
		*capacity *= 2;
	}
}

static struct error *load_stream(int fd, const char *path, size_t max_bytes,
				 struct mapped_file *ret)
{
	size_t capacity = STREAM_STEP_BYTES, size = 0;
	uint8_t *data = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	struct error *error;

	if (data == MAP_FAILED)
		return error_system(errno, "not enough memory for '%s'", path);
	error = read_stream(fd, path, max_bytes, &data, &capacity, &size);
	if (error || !size) {
		munmap(data, capacity);
		if (!error)
			*ret = (struct mapped_file){ 0 };
		return error;
	}
	/* file_unmap() unmaps exactly this size, so shrink the mapping to it. */
	*ret = (struct mapped_file){ .data = mremap(data, capacity, size, 0), .size = size };
	return NULL;
}

struct error *file_load(const char *path, size_t max_bytes, struct mapped_file *ret)
{
	bool is_stdin = !strcmp(path, "-");
	_cleanup_close_ int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
					  : open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	if (is_stdin)
		path = "standard input";
	if (fd < 0 || fstat(fd, &stat) < 0)
		return error_system(errno, "could not open '%s'", path);
	if (S_ISREG(stat.st_mode))
		return map_regular(fd, path, stat.st_size, ret);
	return load_stream(fd, path, max_bytes, ret);
}

void file_unmap(struct mapped_file *file)
{
	if (file->data)
		munmap((void *)file->data, file->size);
	*file = (struct mapped_file){ 0 };
}

static struct error *read_into(int fd, const char *path, struct buffer *ret)
{
	for (;;) {
		size_t room = ret->max_bytes - ret->size;
		uint8_t spare;
		uint8_t *step;
		ssize_t got;

		/* At the maximum: the end of the file is fine, one more byte is too many. */
		if (!room) {
			got = read(fd, &spare, 1);
			if (got > 0)
				return error_create(ERROR_BAD_DATA,
						    "'%s' is larger than the limit of %zu bytes",
						    path, ret->max_bytes);
			return got < 0 ? error_system(errno, "could not read '%s'", path) : NULL;
		}
		if (room > READ_STEP_BYTES)
			room = READ_STEP_BYTES;
		step = buffer_extend(ret, room);
		got = read(fd, step, room);
		ret->size -= room - (got > 0 ? got : 0);
		if (got == 0)
			return NULL;
		if (got < 0 && errno != EINTR)
			return error_system(errno, "could not read '%s'", path);
	}
}

struct error *file_read(const char *path, struct buffer *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct error *error;

	if (fd < 0)
		return error_system(errno, "could not open '%s'", path);
	error = read_into(fd, path, ret);
	if (error)
		return error;
	ret->max_bytes++;
	buffer_append_u8(ret, 0);
	ret->max_bytes--;
	ret->size--;
	return NULL;
}

uint64_t file_stamp(const struct stat *stat)
{
	const uint64_t parts[] = { stat->st_dev, stat->st_ino, stat->st_size,
				   stat->st_mtim.tv_sec, stat->st_mtim.tv_nsec,
				   stat->st_ctim.tv_sec, stat->st_ctim.tv_nsec };
	uint64_t stamp = hash_bytes(parts, sizeof(parts));

	return stamp ? stamp : 1;
}

struct error *file_write_all(int fd, const void *data, size_t size, const char *path)
{
	const uint8_t *bytes = data;

	while (size) {
		ssize_t put = write(fd, bytes, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return error_system(errno, "could not write '%s'", path);
		bytes += put;
		size -= put;
	}
	return NULL;
}
