/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an ELF file with holes: the parts that are needed are copied to their offsets in an image
 * of the file that is zero elsewhere. Headers of sections whose contents were not copied are
 * blanked (SHT_NULL), so that the image can be passed to the reader of whole files
 * (symbol/elf_file.h).
 *
 * An image takes up as much address space as its file, but not as much memory: pages that are never
 * written take none. Limits: files in this machine's byte order; at most 65,279 sections.
 */
#include "guest/process/elf_copy.h"

#include <string.h>

#include "base/memory.h"
#include "guest/process/elf_copy_private.h"
#include "symbol/elf_file.h"
#include "symbol/table.h"

#define MAX_FILE_BYTES (128ULL << 20) /* the cage's address space is limited, too */
#define MAX_READ_BYTES (16ULL << 20)
#define READ_COST_BYTES 4096 /* added to a read's bytes: even a short one takes a page */
#define MAX_NOTE_BYTES 65536
#define MAX_SEGMENTS 256
#define SECTION_TYPE_OFFSET 4 /* of sh_type in a section header of either class */

#define NATIVE_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

bool elf_copy_range(struct elf_copy *copy, uint64_t offset, uint64_t size)
{
	const struct guest_elf_source *source = copy->source;

	if (offset > source->bytes || size > source->bytes - offset)
		return false;
	if (size + READ_COST_BYTES > copy->budget ||
	    !source->read(source->context, offset, copy->image + offset, size)) {
		copy->missing = true;
		return false;
	}
	copy->budget -= size + READ_COST_BYTES;
	return true;
}

bool elf_copy_reopen(struct elf_copy *copy)
{
	elf_end(copy->elf);
	copy->elf = elf_memory((char *)copy->image, copy->bytes);
	return copy->elf && elf_kind(copy->elf) == ELF_K_ELF &&
	       gelf_getehdr(copy->elf, &copy->header);
}

void elf_copy_close(struct elf_copy *copy)
{
	elf_end(copy->elf);
	free(copy->image);
}

bool elf_copy_open(const struct guest_elf_source *source, struct elf_copy *copy)
{
	size_t header_bytes = sizeof(Elf64_Ehdr);

	*copy = (struct elf_copy){ .source = source,
				   .bytes = source->bytes,
				   .budget = MAX_READ_BYTES };
	if (source->bytes < sizeof(Elf32_Ehdr) || source->bytes > MAX_FILE_BYTES)
		return false;
	if (header_bytes > source->bytes)
		header_bytes = source->bytes;
	copy->image = memory_calloc(1, copy->bytes + ELF_COPY_ROOM);
	elf_version(EV_CURRENT);
	if (!elf_copy_range(copy, 0, header_bytes) || memcmp(copy->image, ELFMAG, SELFMAG) ||
	    copy->image[EI_DATA] != NATIVE_ORDER || !elf_copy_reopen(copy) ||
	    copy->header.e_phnum > MAX_SEGMENTS)
		return false;
	return elf_copy_range(
		       copy, copy->header.e_phoff,
		       gelf_fsize(copy->elf, ELF_T_PHDR, copy->header.e_phnum, EV_CURRENT)) &&
	       elf_copy_reopen(copy);
}

static struct guest_build_id find_build_id(struct elf_copy *copy)
{
	struct guest_build_id ret = { 0 };

	for (size_t i = 0; i < copy->header.e_phnum && !ret.bytes; i++) {
		struct build_id id;
		GElf_Phdr segment;

		if (!gelf_getphdr(copy->elf, i, &segment) || segment.p_type != PT_NOTE ||
		    segment.p_filesz > MAX_NOTE_BYTES ||
		    !elf_copy_range(copy, segment.p_offset, segment.p_filesz))
			continue;
		id = build_id_from_notes(copy->image + segment.p_offset, segment.p_filesz, false);
		ret.bytes = id.bytes < sizeof(ret.data) ? id.bytes : sizeof(ret.data);
		memcpy(ret.data, id.data, ret.bytes);
	}
	return ret;
}

struct guest_build_id guest_elf_build_id(const struct guest_elf_source *source)
{
	struct guest_build_id ret = { 0 };
	struct elf_copy copy;

	if (elf_copy_open(source, &copy))
		ret = find_build_id(&copy);
	elf_copy_close(&copy);
	return ret;
}

/* Which sections have been copied, by number. */
struct sections {
	bool *copied;
	size_t count;
	size_t dynsym; /* 0: none was copied */
	bool any_symbols;
};

static bool copy_section(struct elf_copy *copy, struct sections *sections, size_t number)
{
	GElf_Shdr header;

	if (number >= sections->count || !gelf_getshdr(elf_getscn(copy->elf, number), &header) ||
	    header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL)
		return false;
	if (!sections->copied[number])
		sections->copied[number] = elf_copy_range(copy, header.sh_offset, header.sh_size);
	return sections->copied[number];
}

/* A table of symbols or relocations is only useful together with the sections it refers to. */
static bool copy_table(struct elf_copy *copy, struct sections *sections, size_t number,
		       size_t linked)
{
	if (copy_section(copy, sections, linked) && copy_section(copy, sections, number))
		return true;
	if (number < sections->count)
		sections->copied[number] = false;
	return false;
}

static void copy_symbol_tables(struct elf_copy *copy, struct sections *sections)
{
	bool symtab = false;

	for (size_t i = 1; i < sections->count; i++) {
		GElf_Shdr header;

		if (!gelf_getshdr(elf_getscn(copy->elf, i), &header))
			continue;
		if (header.sh_type == SHT_SYMTAB && !symtab)
			symtab = copy_table(copy, sections, i, header.sh_link);
		else if (header.sh_type == SHT_DYNSYM && !sections->dynsym &&
			 copy_table(copy, sections, i, header.sh_link))
			sections->dynsym = i;
	}
	sections->any_symbols = symtab || sections->dynsym;
}

/* Copies the relocations of the procedure linkage table (.rela.plt), which name its entries. */
static void copy_plt_relocations(struct elf_copy *copy, struct sections *sections)
{
	for (size_t i = 1; sections->dynsym && i < sections->count; i++) {
		GElf_Shdr header;

		if (gelf_getshdr(elf_getscn(copy->elf, i), &header) &&
		    (header.sh_type == SHT_RELA || header.sh_type == SHT_REL) &&
		    header.sh_flags & SHF_INFO_LINK && header.sh_link == sections->dynsym)
			copy_section(copy, sections, i);
	}
}

static void blank_others(struct elf_copy *copy, const struct sections *sections)
{
	size_t header_bytes = gelf_fsize(copy->elf, ELF_T_SHDR, 1, EV_CURRENT);
	uint8_t *headers = copy->image + copy->header.e_shoff;

	for (size_t i = 0; i < sections->count; i++)
		if (!sections->copied[i])
			memset(headers + i * header_bytes + SECTION_TYPE_OFFSET, 0,
			       sizeof(uint32_t));
}

/* False: the section headers, their names or all symbol tables are missing. */
static bool copy_sections(struct elf_copy *copy)
{
	size_t count = copy->header.e_shnum;
	struct sections sections = { .count = count };
	_cleanup_free_ bool *copied = NULL;

	if (!copy->header.e_shoff || !count ||
	    !elf_copy_range(copy, copy->header.e_shoff,
			    gelf_fsize(copy->elf, ELF_T_SHDR, count, EV_CURRENT)) ||
	    !elf_copy_reopen(copy))
		return false;
	sections.copied = copied = memory_calloc(count, sizeof(*copied));
	if (!copy_section(copy, &sections, copy->header.e_shstrndx))
		return false;
	copy_symbol_tables(copy, &sections);
	copy_plt_relocations(copy, &sections);
	blank_others(copy, &sections);
	return sections.any_symbols;
}

static struct error *no_symbols(const struct elf_copy *copy)
{
	return error_create(ERROR_NOT_FOUND, copy->missing ? "its symbols are not in memory"
							   : "it has no symbols");
}

static struct error *make_table(struct elf_copy *copy, struct symbol_table **ret)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	_cleanup_elf_file_ struct elf_file *file = NULL;
	struct error *error = elf_file_open_memory(copy->image, copy->bytes, "the file", &file);

	if (!error)
		error = elf_file_add_offsets(file, file, builder);
	if (!error)
		error = elf_file_add_plt(file, builder);
	if (error)
		return error;
	table = symbol_builder_finish(take_pointer(builder));
	if (!symbol_table_count(table))
		return no_symbols(copy);
	*ret = take_pointer(table);
	return NULL;
}

struct error *guest_elf_symbols(const struct guest_elf_source *source, struct symbol_table **ret)
{
	struct elf_copy copy;
	struct error *error;

	if (!elf_copy_open(source, &copy))
		error = error_create(ERROR_NOT_FOUND, copy.missing ? "its headers are not in memory"
								   : "it is not an ELF file");
	else if (copy_sections(&copy) || elf_copy_dynamic(&copy))
		error = make_table(&copy, ret);
	else
		error = no_symbols(&copy);
	elf_copy_close(&copy);
	return error;
}
