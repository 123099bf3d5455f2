/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of this machine as an ELF source. */
#ifndef FILE_SOURCE_H
#define FILE_SOURCE_H

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/files/file.h"
#include "guest/process/elf_copy.h"

struct file_source {
	struct mapped_file file;
	uint64_t hole, hole_end; /* bytes that cannot be read */
};

static inline bool file_source_read(void *context, uint64_t offset, void *data, size_t size)
{
	const struct file_source *source = context;

	if (offset < source->hole_end && offset + size > source->hole)
		return false;
	memcpy(data, source->file.data + offset, size);
	return true;
}

static inline void file_source_open(const char *path, struct file_source *ret)
{
	*ret = (struct file_source){ 0 };
	assert_no_error(file_map(path, &ret->file));
}

static inline void file_source_close(struct file_source *source)
{
	file_unmap(&source->file);
}

static inline struct guest_elf_source file_source_elf(struct file_source *source)
{
	return (struct guest_elf_source){ file_source_read, source, source->file.size };
}

/* This process's vDSO, which ends with its section headers. */
static inline const uint8_t *vdso_of_self(size_t *ret_bytes)
{
	const uint8_t *data = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)data;

	assert_non_null(data);
	*ret_bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	return data;
}

#endif
