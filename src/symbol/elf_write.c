/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files have what stock perf looks for (tools/perf/util/symbol-elf.c of Linux 6.1): it takes
 * symbols of sections with "text" in their names, shifts them by the difference between address and
 * offset of the segment that contains them (0 here), and reads the build-id from a section
 * .note.gnu.build-id. The code section has the type that takes no bytes in the file.
 */
#include "symbol/elf_write.h"

#include <elf.h>
#include <string.h>

#include "symbol/elf_file.h"

enum { SECTION_NONE, SECTION_CODE, SECTION_NOTE, SECTION_SYMBOLS, SECTION_STRINGS, SECTION_NAMES,
       SECTIONS };

/* Section names, with a zero byte before the first. */
static const char section_names[] = "\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab";
static const uint8_t name_offsets[SECTIONS] = { 0, 1, 7, 26, 34, 42 };

uint16_t elf_write_machine(const char *name)
{
	static const struct {
		const char *name;
		uint16_t machine;
	} machines[] = {
		{ "x86_64", EM_X86_64 }, { "i686", EM_X86_64 },	   { "aarch64", EM_AARCH64 },
		{ "ppc64le", EM_PPC64 }, { "ppc64", EM_PPC64 },	   { "s390x", EM_S390 },
		{ "riscv64", EM_RISCV }, { "loongarch64", 258 },
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (!strcmp(machines[i].name, name))
			return machines[i].machine;
	return EM_NONE;
}

static Elf64_Ehdr make_header(uint16_t type, uint16_t machine, uint16_t segments)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
			     EV_CURRENT },
		.e_type = type,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = segments,
	};

	return header;
}

static bool is_code(char type)
{
	return strchr("tTwWiu?", type) != NULL;
}

/* Appends the symbols to SYMBOLS and their names to STRINGS; returns the highest end. */
static uint64_t put_symbols(const struct symbol_table *table, struct buffer *symbols,
			    struct buffer *strings)
{
	uint64_t end = 0;

	buffer_append(symbols, &(Elf64_Sym){ 0 }, sizeof(Elf64_Sym));
	buffer_append_u8(strings, 0);
	for (size_t i = 0; i < symbol_table_count(table); i++) {
		const struct symbol *symbol = symbol_table_at(table, i);
		const char *name = symbol_name(table, symbol);
		bool global = symbol->type >= 'A' && symbol->type <= 'Z';
		Elf64_Sym entry = {
			.st_name = strings->size,
			.st_info =
				ELF64_ST_INFO(symbol->type == 'W' || symbol->type == 'w' ? STB_WEAK
					      : global ? STB_GLOBAL
						       : STB_LOCAL,
					      is_code(symbol->type) ? STT_FUNC : STT_OBJECT),
			.st_shndx = SECTION_CODE,
			.st_value = symbol->start,
			.st_size = symbol->end - symbol->start,
		};

		buffer_append(symbols, &entry, sizeof(entry));
		buffer_append(strings, name, strlen(name) + 1);
		end = symbol->end > end ? symbol->end : end;
	}
	return end;
}

/* Appends DATA to OUT; returns its section header. */
static Elf64_Shdr put_section(struct buffer *out, int number, uint32_t type,
			      const struct buffer *data)
{
	Elf64_Shdr header = { .sh_name = name_offsets[number], .sh_type = type, .sh_addralign = 8 };

	buffer_pad(out, 8);
	header.sh_offset = out->size;
	header.sh_size = data->size;
	buffer_append(out, data->data, data->size);
	return header;
}

static void make_note(const uint8_t *build_id, size_t bytes, struct buffer *ret)
{
	Elf64_Nhdr note = { .n_namesz = 4, .n_descsz = bytes, .n_type = NT_GNU_BUILD_ID };

	buffer_append(ret, &note, sizeof(note));
	buffer_append(ret, "GNU", 4);
	buffer_append(ret, build_id, bytes);
	buffer_pad(ret, 4);
}

void elf_write_symbols(const struct symbol_table *table, uint16_t machine, const uint8_t *build_id,
		       size_t build_id_bytes, struct buffer *out)
{
	_cleanup_buffer_ struct buffer symbols, strings, note, names;
	Elf64_Ehdr header = make_header(ET_DYN, machine, 1);
	Elf64_Shdr sections[SECTIONS] = { 0 };
	Elf64_Phdr code = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = 1 };

	buffer_init(&symbols, out->max_bytes);
	buffer_init(&strings, out->max_bytes);
	buffer_init(&note, BUILD_ID_MAX_BYTES + 32);
	buffer_init(&names, sizeof(section_names));
	code.p_filesz = code.p_memsz = put_symbols(table, &symbols, &strings);
	make_note(build_id, build_id_bytes, &note);
	buffer_append(&names, section_names, sizeof(section_names));

	buffer_append(out, &header, sizeof(header));
	buffer_append(out, &code, sizeof(code));
	sections[SECTION_CODE] = (Elf64_Shdr){ .sh_name = name_offsets[SECTION_CODE],
					       .sh_type = SHT_NOBITS,
					       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					       .sh_size = code.p_filesz, .sh_addralign = 1 };
	sections[SECTION_NOTE] = put_section(out, SECTION_NOTE, SHT_NOTE, &note);
	sections[SECTION_NOTE].sh_addralign = 4;
	sections[SECTION_SYMBOLS] = put_section(out, SECTION_SYMBOLS, SHT_SYMTAB, &symbols);
	sections[SECTION_SYMBOLS].sh_link = SECTION_STRINGS;
	sections[SECTION_SYMBOLS].sh_info = 1;
	sections[SECTION_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
	sections[SECTION_STRINGS] = put_section(out, SECTION_STRINGS, SHT_STRTAB, &strings);
	sections[SECTION_NAMES] = put_section(out, SECTION_NAMES, SHT_STRTAB, &names);
	buffer_pad(out, 8);
	header.e_shoff = out->size;
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shnum = SECTIONS;
	header.e_shstrndx = SECTION_NAMES;
	buffer_append(out, sections, sizeof(sections));
	if (!out->overflow)
		memcpy(out->data, &header, sizeof(header));
}

/* Segment NUMBER of SEGMENTS; the last one covers all remaining ranges. */
static Elf64_Phdr make_segment(const struct elf_range *ranges, size_t count, size_t segments,
			       size_t number)
{
	uint64_t start = ranges[number].start;
	uint64_t end = ranges[number + 1 == segments ? count - 1 : number].end;

	return (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_offset = start,
			     .p_vaddr = start, .p_filesz = end - start, .p_memsz = end - start,
			     .p_align = 1 };
}

void elf_write_core(const struct elf_range *ranges, size_t count, uint64_t last, uint16_t machine,
		    struct buffer *out)
{
	size_t segments = count > ELF_WRITE_MAX_RANGES ? ELF_WRITE_MAX_RANGES : count;
	Elf64_Ehdr header = make_header(ET_CORE, machine, segments);
	Elf64_Phdr at_end = { 0 };

	buffer_append(out, &header, sizeof(header));
	for (size_t i = 0; i < segments; i++) {
		Elf64_Phdr segment = make_segment(ranges, count, segments, i);

		if (last - segment.p_vaddr < segment.p_memsz)
			at_end = segment;
		else
			buffer_append(out, &segment, sizeof(segment));
	}
	if (at_end.p_memsz)
		buffer_append(out, &at_end, sizeof(at_end));
}
