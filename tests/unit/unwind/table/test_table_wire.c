/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables passed from one process to another: the same rows arrive, and garbage is rejected. */
#include "test.h"

#include "base/memory.h"
#include "unwind/orc_bytes.h"

#define START 0xffffffff81000000ULL
#define END_OF_CODE (START + 0x4000)
#define MODULE 0xffffffffc0000000ULL
#define MODULE_END (MODULE + 0x1000)
#define TRAMPOLINE (START + 0x8000)

static const struct entry kernel_entries[] = {
	{ START, UNDEFINED, NONE, 0, NONE, 0 },         { START + 0x100, CALL, SP, 8, NONE, 0 },
	{ START + 0x104, CALL, SP, 16, PREV_SP, -16 },  { START + 0x1000, REGS, SP, 0, NONE, 0 },
	{ START + 0x2345, CALL, BP, 16, PREV_SP, -16 }, { START + 0x3000, CALL, SP, 8, NONE, 0 },
};
static const struct entry module_entries[] = {
	{ MODULE, CALL, SP, 8, NONE, 0 },
	{ MODULE + 0x20, CALL, SP, 4096, NONE, 0 },
};

static void add(struct unwind_table *table, uint64_t start, uint64_t end,
		const struct entry *entries, size_t count)
{
	static struct test_source source;

	make_source(&source, ORC_FORM_SIGNAL, start, end, entries, count);
	assert_true(unwind_table_add(table, &source.source));
}

static void make(struct buffer *bytes, struct unwind_table **ret)
{
	*ret = unwind_table_create();
	add(*ret, START, END_OF_CODE, kernel_entries, 6);
	add(*ret, MODULE, MODULE_END, module_entries, 2);
	unwind_table_add_trampoline(*ret, GVA(TRAMPOLINE));
	buffer_init(bytes, 1 << 20);
	unwind_table_encode(*ret, bytes);
}

static void expect_same(const struct unwind_table *left, const struct unwind_table *right,
			uint64_t start, uint64_t end)
{
	for (uint64_t ip = start; ip < end; ip++) {
		const struct unwind_row *a = unwind_table_find(left, ip);
		const struct unwind_row *b = unwind_table_find(right, ip);

		assert_int_equal(!a, !b);
		if (a)
			assert_memory_equal(a, b, sizeof(*a));
	}
}

static void test_rows_arrive(void **state)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL, *arrived = NULL;
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	make(&bytes, &table);
	assert_no_error(unwind_table_decode(bytes.data, bytes.size, &arrived));
	assert_int_equal(unwind_table_rows(arrived), 8);
	expect_same(table, arrived, START - 16, END_OF_CODE + 16);
	expect_same(table, arrived, MODULE - 16, MODULE_END + 16);
	assert_true(unwind_table_is_trampoline(arrived, TRAMPOLINE));
	assert_int_equal(unwind_table_find(arrived, MODULE + 0x20)->sp_offset, 4096);
}

static void test_cut_short(void **state)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL;
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	make(&bytes, &table);
	for (size_t size = 0; size < bytes.size; size++) {
		_cleanup_free_ uint8_t *part = memory_calloc(size + 1, 1);
		struct unwind_table *arrived;

		memcpy(part, bytes.data, size);
		assert_error(unwind_table_decode(part, size, &arrived), ERROR_BAD_DATA);
	}
}

/* Changes each byte: if the table is still accepted, lookups must be safe. */
static void test_damaged(void **state)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL;
	_cleanup_buffer_ struct buffer bytes;
	size_t refused = 0;

	(void)state;
	make(&bytes, &table);
	for (size_t i = 0; i < bytes.size; i++) {
		_cleanup_unwind_table_ struct unwind_table *arrived = NULL;
		struct error *error;

		bytes.data[i] ^= 0xff;
		error = unwind_table_decode(bytes.data, bytes.size, &arrived);
		bytes.data[i] ^= 0xff;
		refused += error != NULL;
		error_destroy(error);
		for (uint64_t ip = START; arrived && ip < END_OF_CODE; ip += 7)
			unwind_table_find(arrived, ip);
	}
	assert_true(refused > bytes.size / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_arrive),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
