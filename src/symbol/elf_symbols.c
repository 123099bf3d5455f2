/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of ELF files, with the same choice as stock perf (tools/perf/util/symbol-elf.c of
 * Linux 6.1), so that profiles of both tools can be compared: functions (including indirect ones)
 * and objects in sections that are in memory; labels (no type) that are not hidden, in sections
 * with "text" or "data" in their names; both .symtab and .dynsym; no mapping symbols of ARM and
 * RISC-V; and the procedure linkage table as "name@plt", each entry named by the corresponding
 * relocation in .rela.plt.
 *
 * A program's symbols are converted to file offsets through its loadable segments, since MMAP
 * records describe addresses that way. Symbols that are not in the file are left out (perf keeps
 * .bss, which has no code).
 */
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "symbol/elf_private.h"

#define NAMES_MAX_RATIO 8 /* size of all names together, relative to their section */

struct elf_symbol {
	const char *name; /* valid until the next symbol */
	uint64_t address;
	uint64_t bytes; /* 0: unknown */
	char type;	/* as printed by nm */
	uint8_t section_flags;
};

/* A walk over one section of symbols. */
struct symbol_walk {
	const struct elf_file *file;
	Elf_Data *symbols;
	Elf_Data *names;
	size_t count;
	size_t next;
	size_t name_bytes; /* of all names so far, and the limit */
	size_t name_bytes_max;
	char name[ELF_NAME_MAX_BYTES + 1]; /* for a name whose end is far away, or missing */
};

/* False if SECTION has no readable symbols. */
static bool walk_start(struct symbol_walk *walk, const struct elf_file *file, Elf_Scn *section)
{
	size_t entry_bytes = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Shdr header;
	Elf_Scn *names;

	walk->file = file;
	walk->next = 0;
	if (!elf_file_section_fits(section, ELF_MAX_SECTION_BYTES) ||
	    !gelf_getshdr(section, &header))
		return false;
	names = elf_getscn(file->elf, header.sh_link);
	if (!elf_file_section_fits(names, ELF_MAX_SECTION_BYTES))
		return false;
	walk->symbols = elf_getdata(section, NULL);
	walk->names = elf_getdata(names, NULL);
	if (!walk->symbols || !walk->symbols->d_buf || !walk->names || !walk->names->d_buf ||
	    !entry_bytes)
		return false;
	walk->count = walk->symbols->d_size / entry_bytes;
	walk->name_bytes = 0;
	walk->name_bytes_max = NAMES_MAX_RATIO * walk->names->d_size;
	return true;
}

static const char *walk_name(struct symbol_walk *walk, uint64_t offset)
{
	const char *name;
	size_t room, bytes;

	if (offset >= walk->names->d_size)
		return "";
	name = (const char *)walk->names->d_buf + offset;
	room = walk->names->d_size - offset;
	if (room > ELF_NAME_MAX_BYTES)
		room = ELF_NAME_MAX_BYTES;
	bytes = strnlen(name, room);
	walk->name_bytes += bytes;
	if (bytes < room)
		return name;
	memcpy(walk->name, name, bytes);
	walk->name[bytes] = 0;
	return walk->name;
}

static bool is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool is_label(const GElf_Sym *symbol, uint8_t section_flags)
{
	int visibility = GELF_ST_VISIBILITY(symbol->st_other);

	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && visibility != STV_HIDDEN &&
	       visibility != STV_INTERNAL && section_flags & SECTION_TEXT_DATA;
}

/*
 * $a, $d, $t, $x, perhaps with a suffix: they mark the kind of data that follows, and name nothing.
 */
static bool is_mapping_symbol(const struct elf_file *file, const char *name)
{
	int machine = file->header.e_machine;

	if (machine == EM_RISCV && !strncmp(name, ".L", 2))
		return true;
	return (machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV) &&
	       name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.' || machine == EM_RISCV);
}

static char type_letter(const GElf_Sym *symbol, uint8_t section_flags)
{
	bool code = is_function(symbol) ||
		    (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && section_flags & SECTION_TEXT);

	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_WEAK:
		return code ? 'W' : 'V';
	case STB_GLOBAL:
		return code ? 'T' : 'D';
	case STB_GNU_UNIQUE:
		return 'u';
	default:
		return code ? 't' : 'd';
	}
}

static bool take_symbol(struct symbol_walk *walk, const GElf_Sym *symbol, struct elf_symbol *ret)
{
	const struct elf_file *file = walk->file;
	uint8_t flags;

	/* Undefined, absolute and common symbols have reserved section numbers. */
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    symbol->st_shndx >= file->section_count || !symbol->st_name)
		return false;
	flags = file->section_flags[symbol->st_shndx];
	if (!(flags & SECTION_ALLOC) ||
	    (!is_function(symbol) && GELF_ST_TYPE(symbol->st_info) != STT_OBJECT &&
	     !is_label(symbol, flags)))
		return false;
	ret->name = walk_name(walk, symbol->st_name);
	if (!*ret->name || is_mapping_symbol(file, ret->name))
		return false;
	ret->address = symbol->st_value;
	/* The lowest bit of a Thumb function's address is a flag. */
	if (file->header.e_machine == EM_ARM && GELF_ST_TYPE(symbol->st_info) == STT_FUNC)
		ret->address &= ~1ULL;
	ret->bytes = symbol->st_size;
	ret->type = type_letter(symbol, flags);
	ret->section_flags = flags;
	return true;
}

/*
 * Names may share tails, but not all of them one long name: a small hostile file would expand to
 * gigabytes.
 */
static bool is_overspent(const struct symbol_walk *walk)
{
	return walk->name_bytes > walk->name_bytes_max;
}

/* The next relevant symbol; false after the last. */
static bool walk_next(struct symbol_walk *walk, struct elf_symbol *ret)
{
	GElf_Sym symbol;

	while (walk->next < walk->count && !is_overspent(walk))
		if (gelf_getsym(walk->symbols, walk->next++, &symbol) &&
		    take_symbol(walk, &symbol, ret))
			return true;
	return false;
}

/* The file offset of ADDRESS, and that of its segment's end. */
static bool to_offset(const struct elf_file *file, uint64_t address, uint64_t *ret,
		      uint64_t *ret_end)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct segment *segment = &file->segments[i];

		if (address >= segment->address && address - segment->address < segment->bytes) {
			*ret = segment->offset + (address - segment->address);
			*ret_end = segment->offset + segment->bytes;
			return *ret < *ret_end;
		}
	}
	return false;
}

static struct error *too_many(const struct elf_file *file)
{
	return error_create(ERROR_BAD_DATA,
			    "'%s' has more symbols, or longer ones, than its size allows",
			    file->name);
}

static struct error *add_offsets(struct elf_file *file, Elf_Scn *section,
				 const struct elf_file *runtime, struct symbol_builder *builder)
{
	struct symbol_walk walk;
	struct elf_symbol symbol;

	if (!walk_start(&walk, file, section))
		return NULL;
	while (walk_next(&walk, &symbol)) {
		uint64_t start, limit, end = 0;

		if (!to_offset(runtime, symbol.address, &start, &limit))
			continue;
		if (symbol.bytes)
			end = symbol.bytes < limit - start ? start + symbol.bytes : limit;
		if (!symbol_builder_add(builder, start, end, symbol.type, symbol.name, NULL))
			return too_many(file);
	}
	return is_overspent(&walk) ? too_many(file) : NULL;
}

struct error *elf_file_add_offsets(struct elf_file *file, struct elf_file *runtime,
				   struct symbol_builder *builder)
{
	struct error *error;

	symbol_builder_set_program(builder);
	error = add_offsets(file, file->symtab, runtime, builder);
	return error ? error : add_offsets(file, file->dynsym, runtime, builder);
}

struct plt_layout {
	uint64_t header_bytes;
	uint64_t entry_bytes;
};

static struct plt_layout plt_layout(const struct elf_file *file, const GElf_Shdr *plt)
{
	switch (file->header.e_machine) {
	case EM_ARM:
		return (struct plt_layout){ 20, 12 };
	case EM_AARCH64:
		return (struct plt_layout){ 32, 16 };
	default:
		return (struct plt_layout){ plt->sh_entsize, plt->sh_entsize };
	}
}

/* The dynamic symbol that relocation INDEX refers to. */
static bool plt_symbol(Elf_Data *relocations, uint32_t type, size_t index, uint64_t *ret)
{
	GElf_Rela rela;
	GElf_Rel rel;

	if (type == SHT_RELA) {
		if (!gelf_getrela(relocations, index, &rela))
			return false;
		*ret = GELF_R_SYM(rela.r_info);
	} else {
		if (!gelf_getrel(relocations, index, &rel))
			return false;
		*ret = GELF_R_SYM(rel.r_info);
	}
	return true;
}

/* Names the entries of the section PLT, which may start with a special entry. */
static struct error *add_plt(struct elf_file *file, Elf_Scn *plt, bool has_header,
			     struct symbol_builder *builder)
{
	_cleanup_buffer_ struct buffer name;
	GElf_Shdr plt_header, header;
	struct symbol_walk walk;
	struct plt_layout layout;
	Elf_Data *relocations;
	uint64_t at, end, limit, number;

	buffer_init(&name, 2 * ELF_NAME_MAX_BYTES);
	if (!plt || !gelf_getshdr(plt, &plt_header) ||
	    !gelf_getshdr(file->plt_relocations, &header) || header.sh_link != file->dynsym_index ||
	    !elf_file_section_fits(file->plt_relocations, ELF_MAX_SECTION_BYTES) ||
	    !walk_start(&walk, file, file->dynsym))
		return NULL;
	relocations = elf_getdata(file->plt_relocations, NULL);
	layout = plt_layout(file, &plt_header);
	if (!relocations || !layout.entry_bytes || layout.entry_bytes > 64 ||
	    !to_offset(file, plt_header.sh_addr, &at, &limit) || plt_header.sh_size > limit - at)
		return NULL;
	end = at + plt_header.sh_size;
	at += has_header ? layout.header_bytes : 0;
	for (size_t i = 0; at + layout.entry_bytes <= end; i++, at += layout.entry_bytes) {
		GElf_Sym symbol = { 0 };

		if (is_overspent(&walk) || !plt_symbol(relocations, header.sh_type, i, &number))
			break;
		if (!gelf_getsym(walk.symbols, number, &symbol))
			continue;
		buffer_clear(&name);
		/* perf, too, gives the entries of local indirect functions only this name. */
		buffer_printf(&name, "%s@plt", symbol.st_name ? walk_name(&walk, symbol.st_name)
							      : "");
		buffer_append_u8(&name, 0);
		if (!symbol_builder_add(builder, at, at + layout.entry_bytes, 'T',
					(const char *)name.data, NULL))
			return too_many(file);
	}
	return NULL;
}

struct error *elf_file_add_plt(struct elf_file *runtime, struct symbol_builder *builder)
{
	struct error *error;

	if (!runtime->dynsym || !runtime->plt_relocations)
		return NULL;
	error = add_plt(runtime, runtime->plt, true, builder);
	return error ? error : add_plt(runtime, runtime->plt_sec, false, builder);
}

struct error *elf_file_add_kernel(struct elf_file *file, uint64_t delta,
				  struct symbol_builder *builder)
{
	struct symbol_walk walk;
	struct elf_symbol symbol;
	size_t added = 0;

	if (walk_start(&walk, file, file->symtab)) {
		while (walk_next(&walk, &symbol)) {
			uint64_t start = symbol.address + delta, end;

			if (!symbol.address || symbol.section_flags & SECTION_PERCPU)
				continue;
			if (!symbol.bytes || __builtin_add_overflow(start, symbol.bytes, &end))
				end = 0;
			if (!symbol_builder_add(builder, start, end, symbol.type, symbol.name,
						NULL))
				return too_many(file);
			added++;
		}
		if (is_overspent(&walk))
			return too_many(file);
	}
	if (!added)
		return error_hint(
			error_create(ERROR_NOT_FOUND, "'%s' has no symbols", file->name),
			"if it is stripped, use the vmlinux from the kernel's debug package");
	return NULL;
}

struct error *elf_file_find_symbol(struct elf_file *file, const char *name, uint64_t *ret)
{
	struct symbol_walk walk;
	GElf_Sym symbol;

	if (walk_start(&walk, file, file->symtab)) {
		for (size_t i = 0; i < walk.count && !is_overspent(&walk); i++) {
			if (!gelf_getsym(walk.symbols, i, &symbol) || !symbol.st_name ||
			    symbol.st_shndx == SHN_UNDEF ||
			    strcmp(walk_name(&walk, symbol.st_name), name))
				continue;
			*ret = symbol.st_value;
			return NULL;
		}
	}
	return error_create(ERROR_NOT_FOUND, "'%s' has no symbol '%s'", file->name, name);
}
