/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By section headers: .eh_frame is in the file that runs; .debug_frame may be in a file of
 * debugging information, and compressed (SHF_COMPRESSED). Without section headers nothing is found.
 * guest/process/elf_frames.c does this for files of which only some pages may be available.
 */
#include "symbol/elf_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/elf_private.h"

void elf_frames_deinit(struct elf_frames *frames)
{
	free(frames->eh_frame.data);
	free(frames->debug_frame.data);
	*frames = (struct elf_frames){ 0 };
}

static void find_code(struct elf_file *file, struct elf_frames *frames)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(file->elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && frames->code_count < ELF_FRAMES_MAX_CODE; i++) {
		if (!gelf_getphdr(file->elf, i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		frames->code[frames->code_count].address = segment.p_vaddr;
		frames->code[frames->code_count].bytes = segment.p_filesz;
		frames->code[frames->code_count++].offset = segment.p_offset;
	}
}

static Elf_Scn *find_section(struct elf_file *file, const char *wanted, GElf_Shdr *ret)
{
	char name[ELF_SECTION_NAME_BYTES];
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, ret) && ret->sh_type != SHT_NOBITS &&
		    elf_file_section_name(file, ret, name) && !strcmp(name, wanted))
			return section;
	return NULL;
}

/* False: it cannot be uncompressed, or is too large. */
static bool uncompress(Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr compressed;

	return !(header->sh_flags & SHF_COMPRESSED) ||
	       (gelf_getchdr(section, &compressed) &&
		compressed.ch_size <= ELF_FRAMES_MAX_BYTES && elf_compress(section, 0, 0) == 1);
}

static void take_section(struct elf_file *file, const char *name, struct elf_frames_section *ret)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(file, name, &header);
	Elf_Data *data;

	if (!section || ret->data || header.sh_size > ELF_FRAMES_MAX_BYTES ||
	    !uncompress(section, &header))
		return;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || !data->d_size)
		return;
	ret->data = memory_alloc(data->d_size);
	memcpy(ret->data, data->d_buf, data->d_size);
	ret->bytes = data->d_size;
	ret->address = header.sh_addr;
}

struct error *elf_frames_read(struct elf_file *runtime, struct elf_file *debug,
			      struct elf_frames *ret)
{
	struct elf_frames frames = { .machine = runtime->header.e_machine };

	if (elf_file_is_foreign_order(runtime) || elf_file_is_foreign_order(debug))
		return error_create(ERROR_UNSUPPORTED, "'%s' is of the other byte order",
				    runtime->name);
	find_code(runtime, &frames);
	take_section(runtime, ".eh_frame", &frames.eh_frame);
	take_section(runtime, ".debug_frame", &frames.debug_frame);
	take_section(debug, ".debug_frame", &frames.debug_frame);
	if (!frames.eh_frame.data && !frames.debug_frame.data)
		return error_create(ERROR_NOT_FOUND, "'%s' has no call frame information",
				    runtime->name);
	*ret = frames;
	return NULL;
}
