/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kallsyms and modules text: made-up lines, hostile ones, and this machine's own files. */
#include "test.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/kallsyms.h"

static struct error *parse(const char *text, size_t size, struct symbol_table **ret,
			   struct kallsyms_counts *counts)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	struct error *error = kallsyms_parse(text, size, "test", builder, counts);

	if (!error)
		*ret = symbol_builder_finish(take_pointer(builder));
	return error;
}

static void lines_become_symbols(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\r\n"
				   "ffffffff81000100 t do_one_initcall\n"
				   "ffffffff81000200 r read_only\n"
				   "0000000000000000 A fixed_percpu_data\n"
				   "ffffffff81000300 W weak_one  \n"
				   "ffffffff81000400 t $x\n"
				   "\n"
				   "garbage\n"
				   "ffffffff81000400 tt two letters\n"
				   "fffffffff81000400 t seventeen_digits\n"
				   "ffffffff81000400 t name [no_end\n"
				   "ffffffff82000000 d some_data\n"
				   "ffffffffc0000000 t mod_function\t[mod]";
	struct kallsyms_counts counts;
	struct symbol_table *table = NULL;
	const struct symbol *symbol;

	(void)state;
	assert_no_error(parse(text, sizeof(text) - 1, &table, &counts));
	assert_int_equal(counts.symbols, 5);
	assert_int_equal(counts.not_wanted, 2);
	assert_int_equal(counts.zero_lines, 1);
	assert_int_equal(counts.bad_lines, 5);
	assert_int_equal(symbol_table_count(table), 5);
	symbol = symbol_table_find(table, 0xffffffff810001ff);
	assert_string_equal(symbol_name(table, symbol), "do_one_initcall");
	assert_int_equal(symbol->type, 't');
	symbol = symbol_table_find(table, 0xffffffffc0000010);
	assert_string_equal(symbol_name(table, symbol), "mod_function");
	assert_string_equal(symbol_module(table, symbol), "mod");
	symbol_table_destroy(table);
}

static void hidden_addresses_are_said_so(void **state)
{
	static const char text[] = "0000000000000000 T _text\n0000000000000000 t other\n";
	struct symbol_table *table = NULL;

	(void)state;
	assert_error(parse(text, sizeof(text) - 1, &table, NULL), ERROR_PERMISSION);
	assert_null(table);
}

static void foreign_texts_are_refused(void **state)
{
	_cleanup_free_ char *line = memory_alloc(1 << 20);
	struct symbol_table *table = NULL;

	(void)state;
	assert_error(parse("", 0, &table, NULL), ERROR_BAD_DATA);
	assert_error(parse("hello\nworld\n", 12, &table, NULL), ERROR_BAD_DATA);
	assert_error(parse("\0\0\0\0", 4, &table, NULL), ERROR_BAD_DATA);
	assert_error(parse("ff r rodata_only\n", 17, &table, NULL), ERROR_NOT_FOUND);
	memset(line, 'a', 1 << 20);
	assert_error(parse(line, 1 << 20, &table, NULL), ERROR_BAD_DATA);
	memcpy(line, "ffff t ", 7);
	assert_error(parse(line, 1 << 20, &table, NULL), ERROR_BAD_DATA);
	/* One good line among bad ones does not make it kallsyms. */
	assert_error(parse("ffff t x\na\nb\n", 13, &table, NULL), ERROR_BAD_DATA);
	assert_null(table);
}

static void modules_give_their_ranges(void **state)
{
	static const char text[] =
		"kvm_amd 229376 8 - Live 0xffffffffc0a00000\n"
		"kvm 1351680 1 kvm_amd, Live 0xffffffffc0800000 (OE)\r\n"
		"hidden 4096 0 - Live 0x0000000000000000\n"
		"overflow 4096 0 - Live 0xfffffffffffffff0\n"
		"short 4096\n";
	struct symbol_builder *builder = symbol_builder_create();
	struct kallsyms_counts counts;
	struct symbol_table *table;

	(void)state;
	assert_no_error(kallsyms_parse_modules(text, sizeof(text) - 1, "test", builder, &counts));
	assert_int_equal(counts.symbols, 2);
	assert_int_equal(counts.zero_lines, 1);
	assert_int_equal(counts.bad_lines, 2);
	assert_no_error(kallsyms_parse_modules("", 0, "test", builder, &counts));
	assert_error(kallsyms_parse_modules("x\n", 2, "test", builder, NULL), ERROR_BAD_DATA);
	table = symbol_builder_finish(builder);
	assert_string_equal(symbol_table_find_module(table, 0xffffffffc0800000), "kvm");
	assert_string_equal(symbol_table_find_module(table, 0xffffffffc0800000 + 1351679), "kvm");
	assert_null(symbol_table_find_module(table, 0xffffffffc0800000 + 1351680));
	assert_string_equal(symbol_table_find_module(table, 0xffffffffc0a37fff), "kvm_amd");
	assert_null(symbol_table_find_module(table, 0));
	symbol_table_destroy(table);
}

/*
 * This machine's own kallsyms: for each code line, parsed with scanf(), the table's name for its
 * address is one that the file has at that very address.
 */
static void the_running_kernel_is_named(void **state)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/kallsyms", "re");
	_cleanup_symbol_table_ struct symbol_table *table = NULL;
	struct error *error = kallsyms_load(NULL, "/proc/kallsyms", NULL, &table);
	char line[1024], name[1024];
	size_t checked = 0, same_name = 0;
	uint64_t address;
	char type;

	(void)state;
	if (error)
		skip_for(error);
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		const struct symbol *symbol;

		assert_int_equal(sscanf(line, "%" SCNx64 " %c %1023s", &address, &type, name), 3);
		if (!strchr("tTwW", type) || !address)
			continue;
		symbol = symbol_table_find(table, address);
		assert_non_null(symbol);
		assert_true(symbol->start == address);
		same_name += !strcmp(symbol_name(table, symbol), name);
		checked++;
	}
	/* A different name there is an alias; these are few. */
	assert_true(checked > 1000);
	assert_true(same_name > checked * 9 / 10);
}

static void one_symbol_is_found_by_name(void **state)
{
	uint64_t address = 0;
	struct error *error = kallsyms_find_symbol(NULL, "/proc/kallsyms", "_stext", &address);

	(void)state;
	if (error)
		skip_for(error);
	assert_true(address >= 1ULL << 32);
	assert_error(kallsyms_find_symbol(NULL, "/proc/kallsyms", "no such symbol", &address),
		     ERROR_NOT_FOUND);
	assert_error(kallsyms_find_symbol(NULL, "/nonexistent", "_stext", &address),
		     ERROR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_symbols),
		cmocka_unit_test(hidden_addresses_are_said_so),
		cmocka_unit_test(foreign_texts_are_refused),
		cmocka_unit_test(modules_give_their_ranges),
		cmocka_unit_test(the_running_kernel_is_named),
		cmocka_unit_test(one_symbol_is_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
