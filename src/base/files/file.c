/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole files: mapping, reading with a maximum, writing. */
#include "base/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/files/untrusted.h"

#define READ_STEP_BYTES ((size_t)64 * 1024)
#define STREAM_STEP_BYTES ((size_t)1024 * 1024)
#define COPY_MAX_BYTES ((size_t)1 << 30)

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

/* Whoever can change the file could shorten it, or change what was checked: so it is copied. */
static struct error *copy_regular(int fd, const char *path, size_t size, size_t max_bytes,
				  struct mapped_file *ret)
{
	struct mapped_file file = { .size = size };
	size_t got_bytes = 0;
	uint8_t *data;
	ssize_t got;

	*ret = (struct mapped_file){ 0 };
	if (!size)
		return NULL;
	if (size > max_bytes)
		return error_hint(error_create(ERROR_UNSUPPORTED,
					       "'%s' is larger than %zu MB, and other users can "
					       "change it", path, max_bytes >> 20),
				  "copy it first, and use the copy");
	data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return error_system(errno, "not enough memory for '%s'", path);
	file.data = data;
	while (got_bytes < size) {
		got = pread(fd, data + got_bytes, size - got_bytes, (off_t)got_bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			struct error *error = error_system(errno, "could not read '%s'", path);

			file_unmap(&file);
			return error;
		}
		if (!got)
			break; /* it is shorter now: the rest is zeros */
		got_bytes += got;
	}
	*ret = file;
	return NULL;
}

static struct error *load_regular(int fd, const char *path, const struct stat *status,
				  size_t max_bytes, struct mapped_file *ret)
{
	return is_out_of_reach(fd) ? map_regular(fd, path, status->st_size, ret)
				   : copy_regular(fd, path, status->st_size, max_bytes, ret);
}

struct error *file_map_below(const char *root, const char *path, size_t max_bytes,
			     struct mapped_file *ret)
{
	_cleanup_close_ int fd = -1;
	struct error *error = open_untrusted(root, path, 0, &fd);
	struct stat status;

	if (error)
		return error;
	if (fstat(fd, &status) < 0)
		return error_system(errno, "could not open '%s'", path);
	return load_regular(fd, path, &status, max_bytes, ret);
}

struct error *file_map(const char *path, struct mapped_file *ret)
{
	return file_map_below(UNTRUSTED_ANYWHERE, path, COPY_MAX_BYTES, ret);
}

struct error *file_map_own(const char *root, const char *path, struct mapped_file *ret)
{
	_cleanup_close_ int fd = -1;
	struct error *error = open_untrusted(root, path, UNTRUSTED_OWN, &fd);
	struct stat status;

	if (error)
		return error;
	if (fstat(fd, &status) < 0)
		return error_system(errno, "could not open '%s'", path);
	return map_regular(fd, path, status.st_size, ret);
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
					  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat stat;

	if (is_stdin)
		path = "standard input";
	if (fd < 0 || fstat(fd, &stat) < 0)
		return error_system(errno, "could not open '%s'", path);
	if (S_ISREG(stat.st_mode))
		return load_regular(fd, path, &stat, max_bytes, ret);
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

static struct error *read_and_end(int fd, const char *path, struct buffer *ret)
{
	struct error *error = read_into(fd, path, ret);

	if (error)
		return error;
	ret->max_bytes++;
	buffer_append_u8(ret, 0);
	ret->max_bytes--;
	ret->size--;
	return NULL;
}

struct error *file_open(const char *root, const char *path, int *ret_fd)
{
	if (root)
		return open_untrusted(root, path, 0, ret_fd);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return *ret_fd < 0 ? error_system(errno, "could not open '%s'", path) : NULL;
}

struct error *file_read_below(const char *root, const char *path, struct buffer *ret)
{
	_cleanup_close_ int fd = -1;
	struct error *error = file_open(root, path, &fd);

	return error ? error : read_and_end(fd, path, ret);
}

struct error *file_read(const char *path, struct buffer *ret)
{
	return file_read_below(NULL, path, ret);
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
