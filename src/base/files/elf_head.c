/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf(5): e_shnum counts the sections, and is 0 if there are 0xff00 or more; the size of the first
 * section's header is then their number.
 */
#include "base/files/elf_head.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static uint64_t number(const void *data, size_t bytes, bool swap)
{
	uint8_t parts[8] = { 0 };
	uint64_t value;

	for (size_t i = 0; i < bytes; i++)
		parts[i] = ((const uint8_t *)data)[swap ? bytes - 1 - i : i];
	memcpy(&value, parts, sizeof(value));
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? value : value >> (64 - 8 * bytes);
}

bool elf_head_fits(int fd, uint64_t max)
{
	static const unsigned char own =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} head = { 0 };
	uint64_t sections, offset;
	uint8_t size[8] = { 0 };
	bool swap, wide;

	if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head.narrow) ||
	    memcmp(head.ident, ELFMAG, SELFMAG) != 0)
		return true;
	swap = head.ident[EI_DATA] != own;
	wide = head.ident[EI_CLASS] == ELFCLASS64;
	sections = wide ? number(&head.wide.e_shnum, sizeof(head.wide.e_shnum), swap)
			: number(&head.narrow.e_shnum, sizeof(head.narrow.e_shnum), swap);
	offset = wide ? number(&head.wide.e_shoff, sizeof(head.wide.e_shoff), swap)
		      : number(&head.narrow.e_shoff, sizeof(head.narrow.e_shoff), swap);
	if (sections || !offset)
		return true;
	offset += wide ? offsetof(Elf64_Shdr, sh_size) : offsetof(Elf32_Shdr, sh_size);
	if (pread(fd, size, wide ? 8 : 4, (off_t)offset) <= 0)
		return true;
	return number(size, wide ? 8 : 4, swap) <= max;
}
