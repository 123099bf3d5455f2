/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ORC entries in every form, telling the forms apart, and looking up rows. */
#include "test.h"

#include "unwind/orc_bytes.h"

static const enum orc_form forms[] = { ORC_FORM_END, ORC_FORM_SIGNAL_END, ORC_FORM_SIGNAL,
				       ORC_FORM_RENUMBERED };
#define FORMS (sizeof(forms) / sizeof(*forms))

static struct unwind_row decode(enum orc_form form, const struct entry *entry)
{
	uint8_t bytes[ORC_ENTRY_BYTES];
	struct unwind_row row;

	put_entry(form, entry, bytes);
	assert_true(orc_decode(form, bytes, &row));
	return row;
}

static void test_entries_mean_the_same_in_every_form(void **state)
{
	static const struct entry call = { 0, CALL, SP, 24, PREV_SP, -16 };
	static const struct entry regs = { 0, REGS, SP, -8, NONE, 0 };
	static const struct entry partial = { 0, PARTIAL, R10, 0, BP, -32768 };
	static const struct entry end = { 0, END, NONE, 0, NONE, 0 };
	static const struct entry undefined = { 0, UNDEFINED, NONE, 0, NONE, 0 };

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		struct unwind_row row = decode(forms[i], &call);

		assert_int_equal(row.type, UNWIND_ROW_CALL);
		assert_int_equal(row.sp_base, UNWIND_BASE_SP);
		assert_int_equal(row.sp_offset, 24);
		assert_int_equal(row.bp_base, UNWIND_BASE_PREV_SP);
		assert_int_equal(row.bp_offset, -16);
		assert_false(row.signal);
		row = decode(forms[i], &regs);
		assert_int_equal(row.type, UNWIND_ROW_REGS);
		assert_int_equal(row.sp_offset, -8);
		assert_true(row.signal);
		row = decode(forms[i], &partial);
		assert_int_equal(row.type, UNWIND_ROW_REGS_PARTIAL);
		assert_int_equal(row.sp_base, UNWIND_BASE_GENERAL + UNWIND_R10);
		assert_int_equal(row.bp_base, UNWIND_BASE_BP);
		assert_int_equal(row.bp_offset, -32768);
		assert_true(row.signal);
		assert_int_equal(decode(forms[i], &end).type, UNWIND_ROW_END);
		assert_int_equal(decode(forms[i], &undefined).type, UNWIND_ROW_UNDEFINED);
	}
}

static void test_every_register_in_every_form(void **state)
{
	static const struct {
		enum reg reg;
		unsigned int base;
	} bases[] = { { SP, UNWIND_BASE_SP },
		      { BP, UNWIND_BASE_BP },
		      { AX, UNWIND_BASE_GENERAL + UNWIND_AX },
		      { DX, UNWIND_BASE_GENERAL + UNWIND_DX },
		      { DI, UNWIND_BASE_GENERAL + UNWIND_DI },
		      { R10, UNWIND_BASE_GENERAL + UNWIND_R10 },
		      { R13, UNWIND_BASE_GENERAL + UNWIND_R13 },
		      { BP_INDIRECT, UNWIND_BASE_BP_INDIRECT },
		      { SP_INDIRECT, UNWIND_BASE_SP_INDIRECT } };

	(void)state;
	for (size_t f = 0; f < FORMS; f++)
		for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
			struct entry entry = { 0, CALL, bases[i].reg, 8, NONE, 0 };

			assert_int_equal(decode(forms[f], &entry).sp_base, bases[i].base);
		}
}

static void test_indirect_registers_add_before_they_read(void **state)
{
	static const struct entry regs = { 0, REGS, SP_INDIRECT, 8, NONE, 0 };

	(void)state;
	assert_int_equal(decode(ORC_FORM_END, &regs).sp_base, UNWIND_BASE_SP_OFFSET_INDIRECT);
}

static void test_what_no_kernel_has(void **state)
{
	static const struct {
		enum orc_form form;
		uint16_t bits;
	} bad[] = {
		{ ORC_FORM_END, 5 | 3 << 8 },	      /* a fourth type */
		{ ORC_FORM_END, 5 | 1 << 10 },	      /* an end that continues */
		{ ORC_FORM_END, 5 | 1 << 11 },	      /* an undefined bit */
		{ ORC_FORM_SIGNAL_END, 5 | 1 << 12 }, /* the same */
		{ ORC_FORM_SIGNAL, 5 | 5 << 8 },      /* a sixth type */
		{ ORC_FORM_SIGNAL, 5 | 2 << 8 | 1 << 12 },
		{ ORC_FORM_SIGNAL, 1 | 2 << 8 },	      /* SP relative to itself */
		{ ORC_FORM_SIGNAL, 2 << 8 },		      /* relative to nothing */
		{ ORC_FORM_SIGNAL, 11 | 2 << 8 },	      /* relative to an unknown register */
		{ ORC_FORM_SIGNAL, 5 | 5 << 4 | 2 << 8 },     /* BP from SP */
		{ ORC_FORM_RENUMBERED, 3 | 1 << 4 | 2 << 8 }, /* BP from AX */
		{ ORC_FORM_RENUMBERED, 8 | 2 << 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		uint8_t bytes[ORC_ENTRY_BYTES] = { 0 };
		struct unwind_row row;

		memcpy(bytes + 4, &bad[i].bits, 2);
		assert_false(orc_decode(bad[i].form, bytes, &row));
	}
}

/* Mostly calls, as in a kernel. */
static void fill(enum orc_form form, uint8_t *bytes, size_t count)
{
	static const struct entry kinds[] = {
		{ 0, CALL, SP, 8, NONE, 0 },  { 0, CALL, SP, 16, PREV_SP, -16 },
		{ 0, CALL, BP, 16, PREV_SP, -16 }, { 0, CALL, SP, 24, NONE, 0 },
		{ 0, CALL, SP, 64, NONE, 0 }, { 0, CALL, SP, 56, PREV_SP, -16 },
		{ 0, REGS, SP, 0, NONE, 0 },  { 0, CALL, SP, 32, PREV_SP, -24 },
		{ 0, END, NONE, 0, NONE, 0 }, { 0, UNDEFINED, NONE, 0, NONE, 0 },
	};

	for (size_t i = 0; i < count; i++)
		put_entry(form, &kinds[i % 10], bytes + i * ORC_ENTRY_BYTES);
}

static void test_forms_are_told_without_types(void **state)
{
	uint8_t bytes[256 * ORC_ENTRY_BYTES];
	enum orc_form found;

	(void)state;
	for (size_t i = 0; i < FORMS; i++) {
		fill(forms[i], bytes, 256);
		assert_true(orc_find_form(NULL, bytes, 256, &found));
		assert_int_equal(found, forms[i]);
	}
	memset(bytes, 0, sizeof(bytes));
	assert_false(orc_find_form(NULL, bytes, 256, &found));
	memset(bytes, 0xa5, sizeof(bytes));
	assert_false(orc_find_form(NULL, bytes, 256, &found));
	fill(ORC_FORM_SIGNAL, bytes, 8);
	assert_false(orc_find_form(NULL, bytes, 8, &found)); /* too few to decide */
}

#define START 0xffffffff81000000ULL
#define LOW 0xffff888000000000ULL

static int offset_at(const struct unwind_table *table, uint64_t ip)
{
	const struct unwind_row *row = unwind_table_find(table, ip);

	return row ? row->sp_offset : -1;
}

static void test_rows_are_found(void **state)
{
	static const struct entry entries[] = {
		{ START + 0x10, CALL, SP, 8, NONE, 0 },
		{ START + 0x11, CALL, SP, 16, NONE, 0 },
		{ START + 0x20, CALL, SP, 16, NONE, 0 }, /* redundant: not stored */
		{ START + 0x100, CALL, SP, 24, NONE, 0 },
		/* The end of a section, and the true row at the same address. */
		{ START + 0x180, UNDEFINED, NONE, 0, NONE, 0 },
		{ START + 0x180, CALL, SP, 32, NONE, 0 },
		{ START + 0x5000, CALL, SP, 40, NONE, 0 },
	};
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	static struct test_source source;

	(void)state;
	make_source(&source, ORC_FORM_SIGNAL, START, START + 0x6000, entries, 7);
	assert_null(unwind_table_find(table, START + 0x10));
	assert_true(unwind_table_add(table, &source.source));
	assert_int_equal(offset_at(table, START), -1);
	assert_int_equal(offset_at(table, START + 0xf), -1);
	assert_int_equal(offset_at(table, START + 0x10), 8);
	assert_int_equal(offset_at(table, START + 0x11), 16);
	assert_int_equal(offset_at(table, START + 0xff), 16);
	assert_int_equal(offset_at(table, START + 0x100), 24);
	assert_int_equal(offset_at(table, START + 0x17f), 24);
	assert_int_equal(offset_at(table, START + 0x180), 32);
	assert_int_equal(offset_at(table, START + 0x4fff), 32);
	assert_int_equal(offset_at(table, START + 0x5000), 40);
	assert_int_equal(offset_at(table, START + 0x5fff), 40);
	assert_int_equal(offset_at(table, START + 0x6000), -1);
	assert_int_equal(offset_at(table, START - 1), -1);
	assert_int_equal(offset_at(table, 0), -1);
	assert_int_equal(unwind_table_rows(table), 5);
}

static void test_modules_beside_the_kernel(void **state)
{
	static const uint64_t starts[] = { START, START + 0x3000, START + 0x1000, START + 0x2000 };
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	static struct test_source source;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct entry entry = { starts[i], CALL, SP, (int16_t)(8 * i + 8), NONE, 0 };

		make_source(&source, ORC_FORM_END, starts[i], starts[i] + 0x800, &entry, 1);
		assert_true(unwind_table_add(table, &source.source));
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(offset_at(table, starts[i] + 0x7ff), 8 * i + 8);
		assert_int_equal(offset_at(table, starts[i] + 0x800), -1);
	}
	/* Overlapping tables cannot come from the guest. */
	assert_false(unwind_table_add(table, &source.source));
	source.source.start = GVA(START + 0x17ff);
	source.source.end = GVA(START + 0x1fff);
	assert_false(unwind_table_add(table, &source.source));
	source.source.start = GVA(START + 0x1800);
	source.source.end = GVA(START + 0x2001);
	assert_false(unwind_table_add(table, &source.source));
}

static void test_tables_that_lie(void **state)
{
	static const struct entry down[] = { { START + 0x20, CALL, SP, 8, NONE, 0 },
					     { START + 0x10, CALL, SP, 8, NONE, 0 } };
	static const struct entry low[] = { { LOW + 0x10, CALL, SP, 8, NONE, 0 } };
	static const struct entry outside[] = { { START - 0x20, CALL, SP, 8, NONE, 0 },
						{ START + 0x2000, CALL, SP, 8, NONE, 0 } };
	_cleanup_unwind_table_ struct unwind_table *table = unwind_table_create();
	static struct test_source source;

	(void)state;
	make_source(&source, ORC_FORM_SIGNAL, START, START + 0x1000, down, 2);
	assert_false(unwind_table_add(table, &source.source));
	make_source(&source, ORC_FORM_SIGNAL, START, START + 0x1000, outside, 2);
	assert_false(unwind_table_add(table, &source.source));
	make_source(&source, ORC_FORM_SIGNAL, START, START + 0x1000, outside, 1);
	source.source.end = source.source.start;
	assert_false(unwind_table_add(table, &source.source));
	make_source(&source, ORC_FORM_SIGNAL, LOW, LOW + 0x1000, low, 1);
	source.source.end = GVA(LOW + (2ULL << 30));
	assert_false(unwind_table_add(table, &source.source));
	source.source.end = GVA(START + 0x1000);
	source.source.count = SIZE_MAX / ORC_ENTRY_BYTES;
	assert_false(unwind_table_add(table, &source.source));
	assert_int_equal(unwind_table_rows(table), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_mean_the_same_in_every_form),
		cmocka_unit_test(test_every_register_in_every_form),
		cmocka_unit_test(test_indirect_registers_add_before_they_read),
		cmocka_unit_test(test_what_no_kernel_has),
		cmocka_unit_test(test_forms_are_told_without_types),
		cmocka_unit_test(test_rows_are_found),
		cmocka_unit_test(test_modules_beside_the_kernel),
		cmocka_unit_test(test_tables_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
