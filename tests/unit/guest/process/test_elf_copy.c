/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files with holes. The files are from the ELF fuzzer's corpus, and the expected results from
 * readelf: so64 and so32 have .symtab and .dynsym, `stripped` is so64 without the former.
 */
#include "test.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory.h"
#include "guest/process/elf_copy.h"
#include "guest/process/elf_frames.h"
#include "symbol/elf_file.h"

#define CORPUS "tests/fuzz/corpus/elf/"

/* A file of which [hole, hole_end) is not in memory. */
struct holed {
	uint8_t *data;
	size_t bytes;
	uint64_t hole, hole_end;
};

static bool read_holed(void *context, uint64_t offset, void *data, size_t size)
{
	const struct holed *file = context;

	assert_true(offset <= file->bytes && size <= file->bytes - offset);
	if (offset < file->hole_end && offset + size > file->hole)
		return false;
	memcpy(data, file->data + offset, size);
	return true;
}

static struct holed load(const char *path)
{
	struct mapped_file file;
	struct holed ret;

	assert_no_error(file_map(path, &file));
	ret = (struct holed){ memory_dup(file.data, file.size), file.size, 0, 0 };
	file_unmap(&file);
	return ret;
}

static struct guest_elf_source source_of(struct holed *file)
{
	return (struct guest_elf_source){ read_holed, file, file->bytes };
}

static struct error *symbols_of(struct holed *file, uint64_t hole, uint64_t hole_bytes,
				struct symbol_table **ret)
{
	struct guest_elf_source source = source_of(file);

	file->hole = hole;
	file->hole_end = hole + hole_bytes;
	return guest_elf_symbols(&source, ret);
}

static const char *name_at(const struct symbol_table *table, uint64_t offset)
{
	const struct symbol *symbol = symbol_table_find(table, offset);

	return symbol ? symbol_name(table, symbol) : "";
}

/* For a complete file, the symbols are the same that the normal ELF reader finds. */
static void whole_files(void **state)
{
	static const char *const paths[] = { CORPUS "so64", CORPUS "so32", CORPUS "stripped",
					     CORPUS "ibt" };

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
		_cleanup_symbol_table_ struct symbol_table *table = NULL, *wanted = NULL;
		_cleanup_elf_file_ struct elf_file *whole = NULL;
		_cleanup_buffer_ struct buffer bytes, wanted_bytes;
		struct holed file = load(paths[i]);
		struct guest_elf_source source = source_of(&file);
		struct guest_build_id id = guest_elf_build_id(&source);

		buffer_init(&bytes, 1 << 20);
		buffer_init(&wanted_bytes, 1 << 20);
		assert_no_error(elf_file_open(paths[i], &whole));
		assert_no_error(elf_file_add_offsets(whole, whole, builder));
		assert_no_error(elf_file_add_plt(whole, builder));
		wanted = symbol_builder_finish(take_pointer(builder));
		assert_no_error(guest_elf_symbols(&source, &table));
		symbol_table_encode(table, &bytes);
		symbol_table_encode(wanted, &wanted_bytes);
		assert_int_equal(bytes.size, wanted_bytes.size);
		assert_memory_equal(bytes.data, wanted_bytes.data, bytes.size);
		assert_int_equal(id.bytes, 20);
		assert_memory_equal(id.data, elf_file_build_id(whole)->data, 20);
		free(file.data);
	}
}

static void build_ids_need_only_the_start(void **state)
{
	static const uint8_t so64_id[] = { 0x0d, 0x05, 0x13, 0x51 };
	struct holed file = load(CORPUS "so64");
	struct guest_elf_source source = source_of(&file);
	struct guest_build_id id;

	(void)state;
	file.hole = 0x1ec; /* after the note */
	file.hole_end = file.bytes;
	id = guest_elf_build_id(&source);
	assert_int_equal(id.bytes, 20);
	assert_memory_equal(id.data, so64_id, sizeof(so64_id));
	file.hole = 0x1eb;
	assert_int_equal(guest_elf_build_id(&source).bytes, 0);
	file.hole = 0;
	assert_int_equal(guest_elf_build_id(&source).bytes, 0);
	file.hole = file.hole_end = 0;
	file.data[1] = 'e';
	assert_int_equal(guest_elf_build_id(&source).bytes, 0);
	free(file.data);
}

static void missing_tables_are_left_out(void **state)
{
	struct holed file = load(CORPUS "so64");
	static const uint64_t holes[] = { 0x1048, 0x11b0 + 0x80 }; /* in .symtab, .strtab */

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_symbol_table_ struct symbol_table *table = NULL;

		assert_no_error(symbols_of(&file, holes[i], 1, &table));
		assert_string_equal(name_at(table, 0x3cf), "entry");
		assert_string_equal(name_at(table, 0x3c0), "label"); /* its section is known */
		assert_string_equal(name_at(table, 0x3a0), "imported@plt");
	}
	free(file.data);
}

/* Names and addresses as printed by `readelf --dyn-syms`. */
static void check_dynamic(const struct symbol_table *table, bool wide)
{
	assert_int_equal(symbol_table_count(table), 4);
	assert_string_equal(name_at(table, wide ? 0x3c6 : 0x296), "_Z3foov");
	assert_string_equal(name_at(table, wide ? 0x3cc : 0x29c), "weak_one");
	assert_string_equal(name_at(table, wide ? 0x3cf : 0x2a1), "entry");
	assert_string_equal(name_at(table, wide ? 0x3fd : 0x2de), "entry");
	assert_string_equal(name_at(table, wide ? 0x3fe : 0x2df), "");
	assert_string_equal(name_at(table, wide ? 0x1018 : 0x100c), "data_object");
}

static void without_section_headers(void **state)
{
	static const char *const paths[] = { CORPUS "so64", CORPUS "so32", CORPUS "stripped" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		_cleanup_symbol_table_ struct symbol_table *table = NULL;
		struct holed file = load(paths[i]);

		assert_no_error(symbols_of(&file, file.bytes - 1, 1, &table));
		check_dynamic(table, i != 1);
		free(file.data);
	}
}

/* A file whose header says it has none, like one from which sstrip removed them. */
static void with_no_section_headers(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	struct holed file = load(CORPUS "so64");
	Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;

	(void)state;
	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	assert_no_error(symbols_of(&file, 0, 0, &table));
	check_dynamic(table, true);
	free(file.data);
}

/* DT_HASH: one bucket, and as many chain entries as there are symbols. */
static void counted_by_the_old_hash(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	struct holed file = load(CORPUS "so64");
	Elf64_Dyn *entry = (Elf64_Dyn *)(file.data + 0xef8);

	(void)state;
	while (entry->d_tag != DT_GNU_HASH)
		entry++;
	entry->d_tag = DT_HASH;
	memcpy(file.data + 0x1f0, (uint32_t[]){ 1, 8 }, 8);
	assert_no_error(symbols_of(&file, file.bytes - 1, 1, &table));
	check_dynamic(table, true);
	free(file.data);
}

static void assert_not_in_memory(struct error *error)
{
	assert_non_null(error);
	assert_int_equal(error_code(error), ERROR_NOT_FOUND);
	assert_non_null(strstr(error_message(error), "not in memory"));
	error_destroy(error);
}

static void missing_pages_are_said(void **state)
{
	struct holed file = load(CORPUS "so64");
	/*
	 * Holes in the header; the dynamic section, symbols, names, hash, each without section
	 * headers.
	 */
	static const uint64_t holes[] = { 0, 0xf00, 0x2e0, 0x32d, 0x228 };
	struct symbol_table *table;
	Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;

	(void)state;
	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	for (size_t i = 0; i < sizeof(holes) / sizeof(*holes); i++)
		assert_not_in_memory(symbols_of(&file, holes[i], 1, &table));
	free(file.data);
}

static void files_without_symbols(void **state)
{
	struct holed file = load(CORPUS "so64");
	Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;
	struct symbol_table *table;

	(void)state;
	header->e_shoff = header->e_shnum = header->e_shstrndx = header->e_phnum = 0;
	assert_error(symbols_of(&file, 0, 0, &table), ERROR_NOT_FOUND);
	file.bytes = 16;
	assert_error(symbols_of(&file, 0, 0, &table), ERROR_NOT_FOUND);
	file.bytes = 0;
	assert_error(symbols_of(&file, 0, 0, &table), ERROR_NOT_FOUND);
	free(file.data);
}

/* A hash table chain that never ends must not cost more than a file may. */
struct endless {
	const uint8_t *start;
	size_t start_bytes;
	uint64_t read;
};

static bool read_endless(void *context, uint64_t offset, void *data, size_t size)
{
	struct endless *file = context;

	memset(data, 0, size);
	file->read += size;
	if (offset < file->start_bytes)
		memcpy(data, file->start + offset,
		       size < file->start_bytes - offset ? size : file->start_bytes - offset);
	return true;
}

static void hostile_sizes_are_bounded(void **state)
{
	struct holed file = load(CORPUS "so64");
	struct endless endless = { file.data, 0x1060, 0 };
	struct guest_elf_source source = { read_endless, &endless, 128 << 20 };
	Elf64_Dyn *entry = (Elf64_Dyn *)(file.data + 0xef8);
	Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;
	struct symbol_table *table;

	(void)state;
	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	/* One bucket, whose chain begins with symbol 1, and only even words from there on. */
	memcpy(file.data + 0x1048, (uint32_t[]){ 1, 1, 0, 0, 1, 0 }, 24);
	while (entry->d_tag != DT_GNU_HASH)
		entry++;
	entry->d_un.d_ptr = 0x1048;
	((Elf64_Phdr *)(file.data + header->e_phoff))->p_filesz = 128 << 20;
	assert_error(guest_elf_symbols(&source, &table), ERROR_NOT_FOUND);
	assert_true(endless.read <= 16 << 20);
	/* Section headers larger than the limit for one file. */
	header->e_shoff = 0x1000;
	header->e_shnum = 0xfeff;
	header->e_shstrndx = 1;
	endless.read = 0;
	assert_error(guest_elf_symbols(&source, &table), ERROR_NOT_FOUND);
	assert_true(endless.read <= 16 << 20);
	source.bytes = UINT64_MAX;
	assert_error(guest_elf_symbols(&source, &table), ERROR_NOT_FOUND);
	free(file.data);
}

/* All sections have one name, of 11 MB without an end, which takes minutes to find each time. */
static void long_names_of_sections_take_no_time(void **state)
{
	enum { SECTIONS = 65000, NAMES = 11 << 20 };
	const size_t names_at = sizeof(Elf64_Ehdr) + SECTIONS * sizeof(Elf64_Shdr);
	struct holed file = { memory_calloc(1, names_at + NAMES), names_at + NAMES, 0, 0 };
	struct guest_elf_source source = source_of(&file);
	Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;
	Elf64_Shdr *sections = (Elf64_Shdr *)(header + 1);
	struct guest_elf_frames frames;

	(void)state;
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = header->e_version = EV_CURRENT;
	header->e_type = ET_DYN;
	header->e_machine = EM_X86_64;
	header->e_ehsize = sizeof(*header);
	header->e_phentsize = sizeof(Elf64_Phdr);
	header->e_shentsize = sizeof(*sections);
	header->e_shoff = sizeof(*header);
	header->e_shnum = SECTIONS;
	header->e_shstrndx = 1;
	for (size_t i = 1; i < SECTIONS; i++)
		sections[i] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS };
	sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = names_at,
				    .sh_size = NAMES };
	memset(file.data + names_at + 1, 'a', NAMES - 1);
	alarm(20); /* as in test_hostile.c: bounded work takes well under one */
	assert_error(guest_elf_frames_read(&source, &frames), ERROR_NOT_FOUND);
	/* It looks at the last section, too. */
	memcpy(file.data + names_at + 1 + 5, ".eh_frame", sizeof(".eh_frame"));
	sections[SECTIONS - 1].sh_name = 6;
	sections[SECTIONS - 1].sh_size = 4;
	assert_no_error(guest_elf_frames_read(&source, &frames));
	assert_int_equal(frames.bytes, 4);
	guest_elf_frames_deinit(&frames);
	alarm(0);
	free(file.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_files),
		cmocka_unit_test(build_ids_need_only_the_start),
		cmocka_unit_test(missing_tables_are_left_out),
		cmocka_unit_test(without_section_headers),
		cmocka_unit_test(with_no_section_headers),
		cmocka_unit_test(counted_by_the_old_hash),
		cmocka_unit_test(missing_pages_are_said),
		cmocka_unit_test(files_without_symbols),
		cmocka_unit_test(hostile_sizes_are_bounded),
		cmocka_unit_test(long_names_of_sections_take_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
