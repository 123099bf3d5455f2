/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic symbols of a file whose section headers are not in memory. Those are at the end of the
 * file, and a running program does not use them; what the loader needs is in the first segment, and
 * in memory.
 *
 * PT_DYNAMIC shows where the symbols and their names are, but not how many there are. DT_HASH has
 * one chain entry for each symbol. DT_GNU_HASH has chains that end with an odd word: the last
 * symbol is the end of the chain that starts last (System V ABI, "Dynamic Section"; binutils,
 * bfd/elflink.c).
 */
#include <string.h>

#include "base/memory.h"
#include "guest/process/elf_copy_private.h"

#define MAX_DYNAMIC_BYTES 65536
#define MAX_HASH_BUCKETS (1u << 20)
#define MAX_SYMBOLS (1u << 20)
#define CHAIN_STEP 64 /* words of a chain read at once */
#define MAX_SECTION 4000 /* the highest section number allowed: all fit into ELF_COPY_ROOM */

/* Contents of PT_DYNAMIC, as file offsets; 0: missing. */
struct dynamic {
	uint64_t symbols, names, name_bytes, hash, gnu_hash;
};

/* The file offset of ADDRESS; 0 if it is in no segment. */
static uint64_t to_offset(const struct elf_copy *copy, uint64_t address)
{
	for (size_t i = 0; i < copy->header.e_phnum; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(copy->elf, i, &segment) && segment.p_type == PT_LOAD &&
		    address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	}
	return 0;
}

static void take_entry(const struct elf_copy *copy, const GElf_Dyn *entry, struct dynamic *ret)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		ret->symbols = to_offset(copy, entry->d_un.d_ptr);
		break;
	case DT_STRTAB:
		ret->names = to_offset(copy, entry->d_un.d_ptr);
		break;
	case DT_STRSZ:
		ret->name_bytes = entry->d_un.d_val;
		break;
	case DT_HASH:
		ret->hash = to_offset(copy, entry->d_un.d_ptr);
		break;
	case DT_GNU_HASH:
		ret->gnu_hash = to_offset(copy, entry->d_un.d_ptr);
		break;
	}
}

static bool read_dynamic(struct elf_copy *copy, struct dynamic *ret)
{
	struct dynamic dynamic = { 0 };
	GElf_Phdr segment = { 0 };
	Elf_Data *data;
	GElf_Dyn entry;

	for (size_t i = 0; i < copy->header.e_phnum; i++)
		if (gelf_getphdr(copy->elf, i, &segment) && segment.p_type == PT_DYNAMIC)
			break;
	if (segment.p_type != PT_DYNAMIC || segment.p_filesz > MAX_DYNAMIC_BYTES ||
	    !elf_copy_range(copy, segment.p_offset, segment.p_filesz))
		return false;
	data = elf_getdata_rawchunk(copy->elf, segment.p_offset, segment.p_filesz, ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		take_entry(copy, &entry, &dynamic);
	*ret = dynamic;
	return dynamic.symbols && dynamic.names;
}

/* COUNT words, copied into the image. */
static const uint8_t *words_at(struct elf_copy *copy, uint64_t offset, uint64_t count)
{
	return elf_copy_range(copy, offset, count * sizeof(uint32_t)) ? copy->image + offset : NULL;
}

static uint32_t word(const uint8_t *words, size_t number)
{
	uint32_t value;

	memcpy(&value, words + number * sizeof(value), sizeof(value));
	return value;
}

/* The number of the last symbol in the chain that starts with FIRST, whose word is at OFFSET. */
static uint32_t chain_end(struct elf_copy *copy, uint64_t offset, uint32_t first)
{
	for (uint32_t number = first; number < MAX_SYMBOLS;) {
		uint64_t left = offset < copy->source->bytes ? copy->source->bytes - offset : 0;
		uint64_t count = left / sizeof(uint32_t) < CHAIN_STEP ? left / sizeof(uint32_t)
								      : CHAIN_STEP;
		const uint8_t *words = count ? words_at(copy, offset, count) : NULL;

		if (!words)
			return 0;
		for (size_t i = 0; i < count; i++, number++)
			if (word(words, i) & 1)
				return number;
		offset += count * sizeof(uint32_t);
	}
	return 0;
}

/* Header: number of buckets, number of the first symbol, words of the Bloom filter, its shift. */
static uint32_t count_by_gnu_hash(struct elf_copy *copy, uint64_t at)
{
	const uint8_t *header = words_at(copy, at, 4), *words;
	uint64_t bloom_word = gelf_getclass(copy->elf) == ELFCLASS64 ? 8 : 4;
	uint32_t buckets, first, last = 0, end;
	uint64_t offset;

	if (!header)
		return 0;
	buckets = word(header, 0);
	first = word(header, 1);
	offset = at + 16 + bloom_word * word(header, 2);
	words = buckets <= MAX_HASH_BUCKETS ? words_at(copy, offset, buckets) : NULL;
	if (!words)
		return 0;
	for (size_t i = 0; i < buckets; i++)
		if (word(words, i) > last)
			last = word(words, i);
	if (last < first)
		return 0;
	offset +=
		(uint64_t)sizeof(uint32_t) * buckets + (uint64_t)sizeof(uint32_t) * (last - first);
	end = chain_end(copy, offset, last);
	return end ? end + 1 : 0;
}

static uint32_t count_symbols(struct elf_copy *copy, const struct dynamic *dynamic)
{
	const uint8_t *words;

	if (dynamic->gnu_hash)
		return count_by_gnu_hash(copy, dynamic->gnu_hash);
	words = dynamic->hash ? words_at(copy, dynamic->hash, 2) : NULL;
	return words && word(words, 1) <= MAX_SYMBOLS ? word(words, 1) : 0;
}

/* One more than the highest section number used by the symbols. */
static size_t sections_named(struct elf_copy *copy, uint64_t offset, uint64_t bytes)
{
	Elf_Data *data = elf_getdata_rawchunk(copy->elf, offset, bytes, ELF_T_SYM);
	size_t highest = 0;
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
		if (symbol.st_shndx > highest && symbol.st_shndx <= MAX_SECTION)
			highest = symbol.st_shndx;
	return highest + 1;
}

static void put_section(struct elf_copy *copy, uint64_t table, size_t number,
			const GElf_Shdr *section)
{
	Elf32_Shdr small = {
		.sh_type = section->sh_type,	 .sh_flags = section->sh_flags,
		.sh_offset = section->sh_offset, .sh_size = section->sh_size,
		.sh_link = section->sh_link,	 .sh_entsize = section->sh_entsize,
	};

	if (gelf_getclass(copy->elf) == ELFCLASS64)
		memcpy(copy->image + table + number * sizeof(*section), section, sizeof(*section));
	else
		memcpy(copy->image + table + number * sizeof(small), &small, sizeof(small));
}

static void put_header(struct elf_copy *copy, uint64_t table, size_t count)
{
	if (gelf_getclass(copy->elf) == ELFCLASS64) {
		Elf64_Ehdr *header = (Elf64_Ehdr *)copy->image;

		header->e_shoff = table;
		header->e_shentsize = sizeof(Elf64_Shdr);
		header->e_shnum = count;
		header->e_shstrndx = count - 1;
	} else {
		Elf32_Ehdr *header = (Elf32_Ehdr *)copy->image;

		header->e_shoff = table;
		header->e_shentsize = sizeof(Elf32_Shdr);
		header->e_shnum = count;
		header->e_shstrndx = count - 1;
	}
}

/*
 * Adds section headers after the file: one for each section that symbols refer to, which only says
 * that it is in memory; then .dynsym; then .dynstr, which also serves for section names (all "").
 */
static void put_sections(struct elf_copy *copy, const struct dynamic *dynamic,
			 uint64_t symbol_bytes)
{
	static const GElf_Shdr somewhere = { .sh_type = SHT_NULL, .sh_flags = SHF_ALLOC };
	size_t named = sections_named(copy, dynamic->symbols, symbol_bytes);
	GElf_Shdr symbols = { .sh_type = SHT_DYNSYM,
			      .sh_flags = SHF_ALLOC,
			      .sh_offset = dynamic->symbols,
			      .sh_size = symbol_bytes,
			      .sh_link = named + 1,
			      .sh_entsize = gelf_fsize(copy->elf, ELF_T_SYM, 1, EV_CURRENT) };
	GElf_Shdr names = { .sh_type = SHT_STRTAB,
			    .sh_flags = SHF_ALLOC,
			    .sh_offset = dynamic->names,
			    .sh_size = dynamic->name_bytes };
	uint64_t table = (copy->bytes + 15) & ~15ULL;

	put_section(copy, table, 0, &(GElf_Shdr){ 0 });
	for (size_t i = 1; i < named; i++)
		put_section(copy, table, i, &somewhere);
	put_section(copy, table, named, &symbols);
	put_section(copy, table, named + 1, &names);
	copy->bytes = table + gelf_fsize(copy->elf, ELF_T_SHDR, named + 2, EV_CURRENT);
	put_header(copy, table, named + 2);
}

bool elf_copy_dynamic(struct elf_copy *copy)
{
	struct dynamic dynamic;
	uint64_t symbol_bytes;

	if (!read_dynamic(copy, &dynamic))
		return false;
	symbol_bytes = gelf_fsize(copy->elf, ELF_T_SYM, count_symbols(copy, &dynamic), EV_CURRENT);
	if (!symbol_bytes || !elf_copy_range(copy, dynamic.symbols, symbol_bytes) ||
	    !elf_copy_range(copy, dynamic.names, dynamic.name_bytes))
		return false;
	put_sections(copy, &dynamic, symbol_bytes);
	return elf_copy_reopen(copy);
}
