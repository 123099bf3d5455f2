/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds NT_GNU_BUILD_ID ("GNU", type 3) among ELF notes (elf(5): Nhdr, then name and descriptor,
 * each padded to 4 bytes). Like perf, cuts build-ids that are longer than 20 bytes.
 */
#include "elf/build_id.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/files/elf_head.h"
#include "base/files/file.h"

#define NOTES_MAX_BYTES (64u << 10)
#define SEGMENTS_MAX 256
#define SECTIONS_MAX ((uint64_t)1 << 20)

static bool find_in_notes(const void *data, size_t size, struct build_id *ret)
{
	struct cursor cursor = cursor_make(data, size, false);

	while (cursor_left(&cursor) >= sizeof(Elf64_Nhdr)) {
		size_t name_bytes = cursor_u32(&cursor), value_bytes = cursor_u32(&cursor);
		uint32_t type = cursor_u32(&cursor);
		const void *name = cursor_bytes(&cursor, (name_bytes + 3) & ~(size_t)3);
		const void *value = cursor_bytes(&cursor, value_bytes);

		if (cursor.failed)
			return false;
		if (type == NT_GNU_BUILD_ID && name_bytes == 4 && !memcmp(name, "GNU", 4) &&
		    value_bytes) {
			ret->size = value_bytes < BUILD_ID_MAX ? value_bytes : BUILD_ID_MAX;
			memcpy(ret->bytes, value, ret->size);
			return true;
		}
		cursor_skip(&cursor, -value_bytes & 3);
	}
	return false;
}

static bool find_in_elf(Elf *elf, struct build_id *ret)
{
	size_t count;

	/* libelf reads the headers of all segments at once. */
	if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) || count > SEGMENTS_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_NOTE ||
		    segment.p_filesz > NOTES_MAX_BYTES)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz,
					    ELF_T_BYTE);
		if (data && find_in_notes(data->d_buf, data->d_size, ret))
			return true;
	}
	return false;
}

bool build_id_of_file(int fd, struct build_id *ret)
{
	bool found;
	Elf *elf;

	if (!elf_head_fits(fd, SECTIONS_MAX) || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return false;
	found = find_in_elf(elf, ret);
	elf_end(elf);
	return found;
}

bool build_id_of_notes(const char *path, struct build_id *ret)
{
	_cleanup_buffer_ struct buffer notes;
	struct error *error;

	buffer_init(&notes, NOTES_MAX_BYTES);
	error = file_read(path, &notes);
	if (error) {
		error_destroy(error);
		return false;
	}
	return find_in_notes(notes.data, notes.size, ret);
}
