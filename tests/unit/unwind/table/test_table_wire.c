/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables passed from one process to another: the same rows arrive, and garbage is rejected. */
#include "test.h"

#include "allocated.h"
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

/* An encoded table of COUNT pieces, each a GiB with ROWS rows at its start. */
static void make_sparse(struct buffer *bytes, uint32_t count, uint32_t rows)
{
	static const struct unwind_row row = { .type = UNWIND_ROW_CALL, .sp_base = UNWIND_BASE_SP };

	buffer_init(bytes, 1 << 24);
	buffer_append_u32(bytes, 2);
	for (int16_t i = 0; i < 2; i++) {
		struct unwind_row its = row;

		its.sp_offset = 8 * i;
		buffer_append(bytes, &its, sizeof(its));
	}
	buffer_append_u32(bytes, 0);
	buffer_append_u32(bytes, 0);
	buffer_append_u32(bytes, count);
	for (uint32_t i = 0; i < count; i++) {
		buffer_append_u64(bytes, (uint64_t)i << 30);
		buffer_append_u32(bytes, 1 << 30);
		buffer_append_u32(bytes, rows);
		for (uint32_t j = 0; j < rows; j++)
			buffer_append_u32(bytes, 16 * j);
		for (uint32_t j = 0; j < rows; j++)
			buffer_append_u16(bytes, j & 1);
	}
}

/*
 * Whatever span of code a table claims to describe, it costs what was sent: 64 GiB of code in 1.4
 * KB, as many pieces as there can be, and many rows in one piece.
 */
static void test_sparse_code_is_cheap(void **state)
{
	static const struct { uint32_t count, rows; } cases[] = { { 64, 1 }, { 4097, 1 },
								  { 3, 100000 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_unwind_table_ struct unwind_table *table = NULL;
		_cleanup_buffer_ struct buffer bytes;
		size_t before, taken, most;

		make_sparse(&bytes, cases[i].count, cases[i].rows);
		before = allocated_bytes();
		assert_no_error(unwind_table_decode(bytes.data, bytes.size, &table));
		taken = allocated_bytes() - before;
		most = UNWIND_TABLE_COST * bytes.size;
		if (most < UNWIND_TABLE_MIN_BYTES)
			most = UNWIND_TABLE_MIN_BYTES;
		assert_in_range(taken, 1, most);
		assert_in_range(unwind_table_bytes(table), taken / 2, most);
		for (uint64_t at = 0; at < cases[i].count; at++) {
			for (uint64_t row = 0; row < cases[i].rows; row += 7)
				assert_int_equal(
					unwind_table_find(table, (at << 30) + 16 * row)->sp_offset,
					8 * (row & 1));
			assert_int_equal(
				unwind_table_find(table, (at << 30) + (1 << 30) - 1)->sp_offset,
				8 * ((cases[i].rows - 1) & 1));
		}
	}
}

/* The sender may change what it has sent: what was checked stays as it was. */
static void test_answer_changes_later(void **state)
{
	_cleanup_unwind_table_ struct unwind_table *table = NULL, *arrived = NULL;
	_cleanup_buffer_ struct buffer bytes;

	(void)state;
	make(&bytes, &table);
	assert_no_error(unwind_table_decode(bytes.data, bytes.size, &arrived));
	memset(bytes.data, 0xff, bytes.size);
	expect_same(table, arrived, START - 16, END_OF_CODE + 16);
	expect_same(table, arrived, MODULE - 16, MODULE_END + 16);
	assert_true(unwind_table_is_trampoline(arrived, TRAMPOLINE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_arrive),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_sparse_code_is_cheap),
		cmocka_unit_test(test_answer_changes_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
