/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF images made byte by byte: odd ones, and hostile ones. */
#include "test.h"

#include <elf.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/elf_file.h"

#define SECTIONS 5
#define TEXT_BYTES 64
#define ADDRESS 0x400000

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[SECTIONS]; /* null, .text, .symtab, .strtab, .shstrtab */
	char section_names[64];
	char text[TEXT_BYTES];
	char data[]; /* the symbols, then their names */
};

/* A program with COUNT symbols and these names (a string table of NAMES_BYTES). */
static struct image *make_image(const Elf64_Sym *symbols, size_t count, const char *names,
				size_t names_bytes, int machine, size_t *ret_bytes)
{
	size_t symbols_bytes = count * sizeof(*symbols);
	size_t bytes = sizeof(struct image) + symbols_bytes + names_bytes;
	struct image *image = memory_calloc(1, bytes);
	const size_t text_at = offsetof(struct image, text), data_at = offsetof(struct image, data);

	memcpy(image->section_names, "\0.text\0.symtab\0.strtab\0.shstrtab", 33);
	image->header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = machine, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(image->header), .e_phentsize = sizeof(image->segment),
		.e_phoff = offsetof(struct image, segment), .e_phnum = 1,
		.e_shentsize = sizeof(image->sections[0]), .e_shnum = SECTIONS,
		.e_shoff = offsetof(struct image, sections), .e_shstrndx = 4,
	};
	image->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = text_at, .p_vaddr = ADDRESS,
				       .p_filesz = TEXT_BYTES, .p_memsz = 2 * TEXT_BYTES };
	image->sections[1] = (Elf64_Shdr){ 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, ADDRESS,
					   text_at, TEXT_BYTES };
	image->sections[2] = (Elf64_Shdr){ 7, SHT_SYMTAB, 0, 0, data_at, symbols_bytes, 3, 0, 8,
					   sizeof(*symbols) };
	image->sections[3] = (Elf64_Shdr){ 15, SHT_STRTAB, 0, 0, data_at + symbols_bytes,
					   names_bytes };
	image->sections[4] = (Elf64_Shdr){ 23, SHT_STRTAB, 0, 0,
					   offsetof(struct image, section_names), 33 };
	memcpy(image->data, symbols, symbols_bytes);
	memcpy(image->data + symbols_bytes, names, names_bytes);
	*ret_bytes = bytes;
	return image;
}

static struct error *load(const struct image *image, size_t bytes, struct symbol_table **ret)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	_cleanup_elf_file_ struct elf_file *file = NULL;
	struct error *error = elf_file_open_memory(image, bytes, "test", &file);

	if (!error)
		error = elf_file_add_offsets(file, file, builder);
	if (!error)
		*ret = symbol_builder_finish(take_pointer(builder));
	return error;
}

static Elf64_Sym function(uint32_t name, uint64_t address, uint64_t bytes)
{
	return (Elf64_Sym){ name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), STV_DEFAULT, 1, address,
			    bytes };
}

static const char *name_at(const struct symbol_table *table, uint64_t offset)
{
	const struct symbol *symbol =
		symbol_table_find(table, offsetof(struct image, text) + offset);

	return symbol ? symbol_name(table, symbol) : "-";
}

/* Invalid symbols, symbols that extend too far, and the kinds that perf takes. */
static void kinds_of_symbols_are_told_apart(void **state)
{
	static const char names[] = "\0whole\0ifunc\0label\0hidden\0undefined\0absolute\0$x.1\0far";
	Elf64_Sym symbols[] = {
		function(1, ADDRESS, 8),
		function(7, ADDRESS + 8, 8),
		{ 13, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), STV_DEFAULT, 1, ADDRESS + 16, 0 },
		{ 19, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), STV_HIDDEN, 1, ADDRESS + 24, 0 },
		{ 26, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), STV_DEFAULT, SHN_UNDEF, ADDRESS, 1 },
		{ 36, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), STV_DEFAULT, SHN_ABS, ADDRESS + 28, 1 },
		{ 45, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), STV_DEFAULT, 1, ADDRESS + 30, 0 },
		function(50, ADDRESS + 32, UINT64_MAX - 5),
		function(1, ADDRESS + TEXT_BYTES, 8), /* in memory, not in the file */
		function(1, 0, 8),
		function(9999, ADDRESS + 3, 1), /* its name is out of range */
		function(0, ADDRESS + 4, 1),	/* it has none */
	};
	struct symbol_table *table;
	size_t bytes;

	(void)state;
	symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	for (int machine = EM_X86_64; machine != EM_NONE;
	     machine = machine == EM_X86_64 ? EM_AARCH64 : EM_NONE) {
		_cleanup_free_ struct image *image =
			make_image(symbols, sizeof(symbols) / sizeof(symbols[0]), names,
				   sizeof(names), machine, &bytes);

		assert_no_error(load(image, bytes, &table));
		assert_int_equal(symbol_table_count(table), machine == EM_AARCH64 ? 4 : 5);
		assert_string_equal(name_at(table, 7), "whole");
		assert_string_equal(name_at(table, 8), "ifunc");
		/* A mapping symbol names nothing on ARM; elsewhere it is an ordinary label. */
		assert_string_equal(name_at(table, 29), "label");
		assert_string_equal(name_at(table, 31), machine == EM_AARCH64 ? "label" : "$x.1");
		assert_string_equal(name_at(table, 32), "far");
		assert_string_equal(name_at(table, TEXT_BYTES - 1), "far");
		assert_string_equal(name_at(table, TEXT_BYTES), "-"); /* cut at the segment's end */
		symbol_table_destroy(table);
	}
}

/* 20,000 symbols that share one name of 60 KB: a file of 600 KB, more than 300 MB of names. */
static void small_files_do_not_become_large(void **state)
{
	size_t names_bytes = 60000, count = 20000, bytes;
	_cleanup_free_ char *names = memory_alloc(names_bytes);
	_cleanup_free_ Elf64_Sym *symbols = memory_calloc(count, sizeof(*symbols));
	_cleanup_free_ struct image *image = NULL;
	struct symbol_table *table = NULL;

	(void)state;
	memset(names, 'a', names_bytes);
	names[0] = 0;
	for (size_t i = 0; i < count; i++)
		symbols[i] = function(1, ADDRESS, 8);
	image = make_image(symbols, count, names, names_bytes, EM_X86_64, &bytes);
	assert_error(load(image, bytes, &table), ERROR_BAD_DATA);
	assert_null(table);

	/* A single one is cut, and may lack its terminator. */
	free(take_pointer(image));
	image = make_image(symbols, 1, names, names_bytes, EM_X86_64, &bytes);
	assert_no_error(load(image, bytes, &table));
	assert_int_equal(strlen(symbol_name(table, symbol_table_at(table, 0))), 16384);
	symbol_table_destroy(table);
}

/*
 * 200,000 sections that share a name of 16 MB, which has no terminator: searching it for each of
 * them would take hours. Section 0 has the number of sections.
 */
static void many_sections_may_share_a_long_name(void **state)
{
	const size_t count = 200000, names_bytes = 16 << 20;
	const size_t names_at = sizeof(Elf64_Ehdr) + count * sizeof(Elf64_Shdr);
	_cleanup_free_ uint8_t *data = memory_calloc(1, names_at + names_bytes);
	_cleanup_elf_file_ struct elf_file *file = NULL;
	Elf64_Ehdr *header = (void *)data;
	Elf64_Shdr *sections = (void *)(header + 1);

	(void)state;
	*header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(*header), .e_shentsize = sizeof(*sections),
		.e_shoff = sizeof(*header), .e_shstrndx = 1,
	};
	sections[0].sh_size = count;
	for (size_t i = 1; i < count; i++)
		sections[i] = (Elf64_Shdr){ 1, SHT_PROGBITS, SHF_ALLOC };
	sections[1] = (Elf64_Shdr){ 1, SHT_STRTAB, 0, 0, names_at, names_bytes };
	memset(data + names_at + 1, 'x', names_bytes - 1);
	assert_no_error(elf_file_open_memory(data, names_at + names_bytes, "test", &file));
	assert_false(elf_file_has_symtab(file) || elf_file_has_code(file));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_symbols_are_told_apart),
		cmocka_unit_test(small_files_do_not_become_large),
		cmocka_unit_test(many_sections_may_share_a_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
