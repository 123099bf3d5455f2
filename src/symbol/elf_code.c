/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of ELF files, as it is loaded when a program begins: without relocations. */
#include <errno.h>
#include <string.h>

#include "symbol/elf_private.h"

/* Of an image in memory, libelf has the bytes. */
static bool read_memory(Elf *elf, uint64_t offset, void *ret, size_t size)
{
	size_t bytes;
	const char *image = elf_rawfile(elf, &bytes);

	if (!image || offset > bytes || size > bytes - offset)
		return false;
	memcpy(ret, image + offset, size);
	return true;
}

static bool read_file(int fd, uint64_t offset, void *ret, size_t size)
{
	char *to = ret;

	while (size) {
		ssize_t got = pread(fd, to, size, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		to += got;
		offset += got;
		size -= got;
	}
	return true;
}

bool elf_file_read_loaded(const struct elf_file *file, uint64_t offset, uint64_t size,
			  struct buffer *out)
{
	size_t before = out->size;
	uint64_t left = 0;
	void *to;
	bool there;

	for (size_t i = 0; i < file->segment_count && !left; i++) {
		const struct segment *segment = &file->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->bytes)
			left = segment->bytes - (offset - segment->offset);
	}
	size = size < left ? size : left;
	to = size ? buffer_extend(out, size) : NULL;
	if (!to)
		return false;
	there = file->fd < 0 ? read_memory(file->elf, offset, to, size)
			     : read_file(file->fd, offset, to, size);
	if (!there)
		out->size = before;
	return there;
}
