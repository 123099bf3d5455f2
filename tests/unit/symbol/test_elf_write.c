/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files written for other tools are read back with libelf and the parsers of kallsyms and modules.
 */
#include "test.h"

#include <elf.h>
#include <gelf.h>
#include <string.h>

#include "symbol/elf_file.h"
#include "symbol/elf_write.h"
#include "symbol/kallsyms.h"

static const uint8_t build_id[20] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				      11, 12, 13, 14, 15, 16, 17, 18, 19, 20 };

static struct symbol_table *make_table(void)
{
	struct symbol_builder *builder = symbol_builder_create();

	symbol_builder_add(builder, 0x1000, 0x1080, 'T', "first", NULL);
	symbol_builder_add(builder, 0x1080, 0x1100, 't', "second", NULL);
	symbol_builder_add(builder, 0x1100, 0x1110, 'W', "weak", "mod");
	symbol_builder_add(builder, 0x2000, 0x2008, 'D', "data", "mod");
	symbol_builder_add_module(builder, "mod", 0x1100, 0x3000);
	return symbol_builder_finish(builder);
}

static void same_tables(const struct symbol_table *left, const struct symbol_table *right,
			bool modules)
{
	assert_int_equal(symbol_table_count(left), symbol_table_count(right));
	for (size_t i = 0; i < symbol_table_count(left); i++) {
		const struct symbol *a = symbol_table_at(left, i), *b = symbol_table_at(right, i);

		assert_int_equal(a->start, b->start);
		assert_int_equal(a->type, b->type);
		assert_string_equal(symbol_name(left, a), symbol_name(right, b));
		if (!modules)
			assert_int_equal(a->end, b->end);
		else if (symbol_module(left, a))
			assert_string_equal(symbol_module(left, a), symbol_module(right, b));
		else
			assert_null(symbol_module(right, b));
	}
}

static void test_symbols(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = make_table(), *read = NULL;
	struct symbol_builder *builder = symbol_builder_create();
	_cleanup_elf_file_ struct elf_file *file = NULL;
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	buffer_init(&bytes, 1 << 20);
	elf_write_symbols(table, EM_X86_64, build_id, sizeof(build_id), &bytes);
	assert_null(elf_file_open_memory(bytes.data, bytes.size, "written", &file));
	assert_true(elf_file_has_symtab(file));
	assert_true(build_id_equal(elf_file_build_id(file), build_id, sizeof(build_id)));
	assert_null(elf_file_add_offsets(file, file, builder));
	read = symbol_builder_finish(builder);
	same_tables(table, read, false);
}

static void test_overflow(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = make_table();
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	buffer_init(&bytes, 100);
	elf_write_symbols(table, EM_X86_64, build_id, sizeof(build_id), &bytes);
	assert_true(bytes.overflow);
}

/* Ranges beyond the file's limit are merged. */
static void test_core(void **state)
{
	static struct elf_range ranges[ELF_WRITE_MAX_RANGES + 10];
	const size_t count = sizeof(ranges) / sizeof(*ranges);
	_cleanup_buffer_ struct buffer bytes;
	GElf_Phdr segment;
	Elf *elf;

	(void)state;
	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct elf_range){ 0xffffffff80000000 + i * 0x1000,
						0xffffffff80000000 + i * 0x1000 + 0x100 };
	buffer_init(&bytes, 1 << 24);
	elf_write_core(ranges, count, 0, EM_X86_64, &bytes);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)bytes.data, bytes.size);
	assert_non_null(elf);
	for (size_t i = 0; i < ELF_WRITE_MAX_RANGES; i++) {
		size_t last = i + 1 == ELF_WRITE_MAX_RANGES ? count - 1 : i;

		assert_ptr_equal(gelf_getphdr(elf, i, &segment), &segment);
		assert_int_equal(segment.p_vaddr, ranges[i].start);
		assert_int_equal(segment.p_offset, ranges[i].start);
		assert_int_equal(segment.p_memsz, ranges[last].end - ranges[i].start);
	}
	assert_null(gelf_getphdr(elf, ELF_WRITE_MAX_RANGES, &segment));
	elf_end(elf);
}

/* The requested segment comes last. */
static void test_core_order(void **state)
{
	static const struct elf_range ranges[] = { { 0x1000, 0x2000 },
						   { 0x2000, 0x3000 },
						   { 0x4000, 0x5000 } };
	static const struct {
		uint64_t last;
		size_t order[3];
	} cases[] = { { 0x1000, { 1, 2, 0 } }, { 0x1fff, { 1, 2, 0 } }, { 0x2000, { 0, 2, 1 } },
		      { 0x4fff, { 0, 1, 2 } }, { 0x3000, { 0, 1, 2 } }, { 0, { 0, 1, 2 } } };

	(void)state;
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_buffer_ struct buffer bytes;
		GElf_Phdr segment;
		Elf *elf;

		buffer_init(&bytes, 1 << 16);
		elf_write_core(ranges, 3, cases[i].last, EM_X86_64, &bytes);
		elf = elf_memory((char *)bytes.data, bytes.size);
		assert_non_null(elf);
		for (size_t j = 0; j < 3; j++) {
			assert_ptr_equal(gelf_getphdr(elf, j, &segment), &segment);
			assert_int_equal(segment.p_vaddr, ranges[cases[i].order[j]].start);
		}
		assert_null(gelf_getphdr(elf, 3, &segment));
		elf_end(elf);
	}
}

static void test_kallsyms(void **state)
{
	_cleanup_symbol_table_ struct symbol_table *table = make_table(), *read = NULL;
	struct symbol_builder *builder = symbol_builder_create();
	_cleanup_buffer_ struct buffer text, modules;

	(void)state;
	buffer_init(&text, 1 << 20);
	buffer_init(&modules, 1 << 20);
	kallsyms_write(table, true, &text);
	kallsyms_write_modules(table, &modules);
	assert_null(kallsyms_parse((const char *)text.data, text.size, "text", builder, NULL));
	assert_null(kallsyms_parse_modules((const char *)modules.data, modules.size, "modules",
					   builder, NULL));
	read = symbol_builder_finish(builder);
	same_tables(table, read, true);
	assert_string_equal(symbol_table_find_module(read, 0x2fff), "mod");
	assert_null(symbol_table_find_module(read, 0x3000));
}

/* In that text, any name becomes one word of ASCII. */
static void test_odd_names(void **state)
{
	struct symbol_builder *builder = symbol_builder_create();
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	static const char want[] = "0000000000001000 T two?words??\t[m?]\n";
	_cleanup_buffer_ struct buffer text;

	(void)state;
	symbol_builder_add(builder, 0x1000, 0x1010, 'T', "two words\xc3\xa9", "m ");
	table = symbol_builder_finish(builder);
	buffer_init(&text, 1 << 20);
	kallsyms_write(table, true, &text);
	assert_int_equal(text.size, strlen(want));
	assert_memory_equal(text.data, want, text.size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),	   cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_core),	   cmocka_unit_test(test_core_order),
		cmocka_unit_test(test_kallsyms),   cmocka_unit_test(test_odd_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
