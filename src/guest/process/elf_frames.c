/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information is in .eh_frame, which is mapped. .eh_frame_hdr locates it, and is itself
 * located by a program header (PT_GNU_EH_FRAME):
 *
 * 	u8 version, u8 encodings of the three fields that follow
 * 	where .eh_frame is, how many functions it has
 * 	for each function, sorted: where its code is, where its record is
 *
 * Section headers locate it, too, if they are in memory. They give its size, and may show a
 * .debug_frame if there is no .eh_frame. If its size is unknown, .eh_frame ends with a record of
 * length zero.
 *
 * For a file in a page cache, some pages of .eh_frame may be missing; the table of functions shows
 * where the records continue after a gap.
 *
 * Source: LSB 5.0 Core, "Exception Frames". Limits: the encodings that linkers emit; no x32.
 */
#include "guest/process/elf_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/dwarf.h"
#include "base/memory.h"
#include "base/sort.h"
#include "guest/process/elf_copy_private.h"

#define MAX_BYTES ((uint64_t)16 << 20)
#define MAX_TABLE_BYTES ((uint64_t)8 << 20) /* of .eh_frame_hdr */
#define HEADER_BYTES 8
#define ENTRY_BYTES 8
#define MAX_SECTIONS 65536

/* A range of the file that is mapped, or would be, at ADDRESS. */
struct range {
	uint64_t offset, bytes, address;
};

void guest_elf_frames_deinit(struct guest_elf_frames *frames)
{
	free(frames->data);
	free(frames->pages);
	free(frames->records);
}

/* ADDRESS and what follows it in its segment. */
static bool find_range(const struct elf_copy *copy, uint64_t address, struct range *ret)
{
	for (size_t i = 0; i < copy->header.e_phnum; i++) {
		GElf_Phdr segment;
		uint64_t inside;

		if (!gelf_getphdr(copy->elf, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		inside = address - segment.p_vaddr;
		if (inside < segment.p_filesz) {
			*ret = (struct range){ segment.p_offset + inside, segment.p_filesz - inside,
					       address };
			return true;
		}
	}
	return false;
}

static bool in_file(const struct elf_copy *copy, uint64_t offset, uint64_t bytes)
{
	return offset <= copy->source->bytes && bytes <= copy->source->bytes - offset;
}

static void find_code(const struct elf_copy *copy, struct guest_elf_frames *frames)
{
	for (size_t i = 0; i < copy->header.e_phnum && frames->code_count < GUEST_ELF_MAX_CODE;
	     i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(copy->elf, i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) || !in_file(copy, segment.p_offset, segment.p_filesz))
			continue;
		frames->code[frames->code_count].address = segment.p_vaddr;
		frames->code[frames->code_count].bytes = segment.p_filesz;
		frames->code[frames->code_count++].offset = segment.p_offset;
	}
}

/* Where .eh_frame is, according to the .eh_frame_hdr of SEGMENT. */
static bool read_header(struct elf_copy *copy, const GElf_Phdr *segment, struct range *ret,
			bool *ret_has_table)
{
	struct cursor cursor;
	uint32_t encodings;

	if (segment->p_filesz < HEADER_BYTES ||
	    !elf_copy_range(copy, segment->p_offset, HEADER_BYTES))
		return false;
	cursor = cursor_make(copy->image + segment->p_offset, HEADER_BYTES, false);
	encodings = cursor_u32(&cursor);
	*ret_has_table =
		encodings >> 16 == (DW_EH_PE_udata4 | (DW_EH_PE_datarel | DW_EH_PE_sdata4) << 8);
	return (encodings & 0xffff) == (1 | (DW_EH_PE_pcrel | DW_EH_PE_sdata4) << 8) &&
	       find_range(copy, segment->p_vaddr + 4 + (int64_t)(int32_t)cursor_u32(&cursor), ret);
}

/* Fills frames->records from the table, if there is one. */
static void take_table(struct elf_copy *copy, const GElf_Phdr *segment, const struct range *range,
		       struct guest_elf_frames *frames)
{
	_cleanup_free_ struct sort_key *keys = NULL;
	struct cursor cursor;
	uint32_t count;

	if (segment->p_filesz > MAX_TABLE_BYTES ||
	    !elf_copy_range(copy, segment->p_offset, segment->p_filesz))
		return;
	cursor = cursor_make(copy->image + segment->p_offset, segment->p_filesz, false);
	cursor_skip(&cursor, HEADER_BYTES);
	count = cursor_u32(&cursor);
	if (cursor.failed || !count || count > cursor_left(&cursor) / ENTRY_BYTES)
		return;
	keys = memory_calloc(count, sizeof(*keys));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t record;

		cursor_skip(&cursor, sizeof(uint32_t));
		record = segment->p_vaddr + (int64_t)(int32_t)cursor_u32(&cursor) - range->address;
		if (record < range->bytes && record <= UINT32_MAX)
			keys[frames->record_count++].key = record;
	}
	sort_keys(keys, frames->record_count);
	frames->records = memory_calloc(count, sizeof(*frames->records));
	for (size_t i = 0; i < frames->record_count; i++)
		frames->records[i] = keys[i].key;
}

static bool find_by_header(struct elf_copy *copy, struct guest_elf_frames *frames,
			   struct range *ret)
{
	for (size_t i = 0; i < copy->header.e_phnum; i++) {
		bool has_table;
		GElf_Phdr segment;

		if (!gelf_getphdr(copy->elf, i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
			continue;
		if (!read_header(copy, &segment, ret, &has_table))
			return false;
		if (has_table)
			take_table(copy, &segment, ret, frames);
		return true;
	}
	return false;
}

/* Copies the section headers and their names; false: incomplete. */
static bool copy_sections(struct elf_copy *copy)
{
	size_t count = copy->header.e_shnum;
	GElf_Shdr names;

	return copy->header.e_shoff && count && count <= MAX_SECTIONS &&
	       elf_copy_range(copy, copy->header.e_shoff,
			      gelf_fsize(copy->elf, ELF_T_SHDR, count, EV_CURRENT)) &&
	       elf_copy_reopen(copy) &&
	       gelf_getshdr(elf_getscn(copy->elf, copy->header.e_shstrndx), &names) &&
	       names.sh_type == SHT_STRTAB &&
	       elf_copy_range(copy, names.sh_offset, names.sh_size) && elf_copy_reopen(copy);
}

/*
 * NAMES is the section of names, which was copied. Unlike elf_strptr(), this takes no time that
 * depends on its size, for it may be large, and each section's name one and the same.
 */
static bool is_named(const struct elf_copy *copy, const GElf_Shdr *names, const GElf_Shdr *header,
		     const char *wanted)
{
	size_t bytes = strlen(wanted) + 1;

	return header->sh_name < names->sh_size && names->sh_size - header->sh_name >= bytes &&
	       !memcmp(copy->image + names->sh_offset + header->sh_name, wanted, bytes);
}

static bool find_by_name(struct elf_copy *copy, const char *wanted, struct range *ret)
{
	GElf_Shdr names;

	if (!gelf_getshdr(elf_getscn(copy->elf, copy->header.e_shstrndx), &names))
		return false;
	for (size_t i = 1; i < copy->header.e_shnum; i++) {
		GElf_Shdr header;

		if (!gelf_getshdr(elf_getscn(copy->elf, i), &header) ||
		    header.sh_type == SHT_NOBITS || header.sh_flags & SHF_COMPRESSED)
			continue;
		if (is_named(copy, &names, &header, wanted)) {
			*ret = (struct range){ header.sh_offset, header.sh_size, header.sh_addr };
			return true;
		}
	}
	return false;
}

static bool find_frames(struct elf_copy *copy, struct guest_elf_frames *frames, struct range *ret)
{
	bool by_header = find_by_header(copy, frames, ret);
	struct range named;

	if (!copy_sections(copy))
		return by_header;
	if (find_by_name(copy, ".eh_frame", &named)) {
		if (!by_header || named.offset == ret->offset)
			*ret = named;
		return true;
	}
	if (by_header)
		return true;
	frames->debug_frame = true;
	return find_by_name(copy, ".debug_frame", ret);
}

/* False: none of it can be read. */
static bool read_pages(const struct guest_elf_source *source, const struct range *range,
		       struct guest_elf_frames *frames)
{
	bool any = false;

	frames->page_offset = range->offset % GUEST_ELF_FRAMES_PAGE;
	frames->pages =
		memory_calloc((frames->page_offset + range->bytes) / GUEST_ELF_FRAMES_PAGE + 1,
			      sizeof(*frames->pages));
	for (uint64_t at = 0, bytes; at < range->bytes; at += bytes) {
		uint64_t from = frames->page_offset + at;
		bool *here = &frames->pages[from / GUEST_ELF_FRAMES_PAGE];

		bytes = GUEST_ELF_FRAMES_PAGE - from % GUEST_ELF_FRAMES_PAGE;
		if (bytes > range->bytes - at)
			bytes = range->bytes - at;
		*here = source->read(source->context, range->offset + at, frames->data + at, bytes);
		any |= *here;
	}
	return any;
}

static struct error *not_found(bool missing)
{
	return error_create(ERROR_NOT_FOUND, missing ? "its call frame information is not in memory"
						     : "it has no call frame information");
}

static struct error *read_frames(struct elf_copy *copy, struct guest_elf_frames *frames)
{
	struct range range;

	if (!find_frames(copy, frames, &range) || !range.bytes ||
	    !in_file(copy, range.offset, range.bytes))
		return not_found(copy->missing);
	if (range.bytes > MAX_BYTES)
		range.bytes = MAX_BYTES;
	frames->data = memory_calloc(1, range.bytes);
	frames->bytes = range.bytes;
	frames->address = range.address;
	if (!copy->source->read(copy->source->context, range.offset, frames->data, range.bytes) &&
	    !read_pages(copy->source, &range, frames))
		return not_found(true);
	return NULL;
}

static bool is_x86(const struct elf_copy *copy, bool *ret_bits32)
{
	*ret_bits32 = gelf_getclass(copy->elf) == ELFCLASS32;
	return copy->header.e_machine == (*ret_bits32 ? EM_386 : EM_X86_64);
}

/* Without WANTS_FRAMES, only the code. */
static struct error *read_file(const struct guest_elf_source *source, bool wants_frames,
			       struct guest_elf_frames *ret)
{
	struct guest_elf_frames frames = { 0 };
	struct error *error = NULL;
	struct elf_copy copy;

	if (!elf_copy_open(source, &copy)) {
		error = error_create(ERROR_NOT_FOUND, copy.missing ? "its headers are not in memory"
								   : "it is not an ELF file");
	} else if (!is_x86(&copy, &frames.bits32)) {
		error = error_create(ERROR_UNSUPPORTED, "its code is not x86 code");
	} else {
		find_code(&copy, &frames);
		if (wants_frames)
			error = read_frames(&copy, &frames);
	}
	elf_copy_close(&copy);
	if (error)
		guest_elf_frames_deinit(&frames);
	else
		*ret = frames;
	return error;
}

struct error *guest_elf_frames_read(const struct guest_elf_source *source,
				    struct guest_elf_frames *ret)
{
	return read_file(source, true, ret);
}

struct error *guest_elf_code_read(const struct guest_elf_source *source,
				  struct guest_elf_frames *ret)
{
	return read_file(source, false, ret);
}
