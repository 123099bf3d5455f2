/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of exits: percentiles of known lists, and rows that keys tell apart. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "exits/exit_table.h"

/*
 * The table of the times 1 to COUNT ns, in another order: STEP has no factor in common with it.
 * HISTOGRAM, which may be NULL, gets the row's; the row itself has none.
 */
static struct exits_row row_of(uint64_t count, uint64_t step, uint64_t *histogram)
{
	struct exits_row key = { .code = 1 }, row;
	struct exit_table table;
	struct exits exits = { 0 };

	exit_table_init(&table);
	for (uint64_t i = 0; i < count; i++)
		exit_table_count_timed(&table, &key, 1 + i * step % count);
	exit_table_finish(&table, &exits);
	assert_int_equal(exits.rows.count, 1);
	assert_int_equal(exits.count, count);
	assert_int_equal(exits.total_ns, count * (count + 1) / 2);
	row = exits.rows.items[0];
	if (histogram)
		memcpy(histogram, row.histogram, EXITS_BUCKETS * sizeof(*histogram));
	row.histogram = NULL;
	exits_deinit(&exits);
	exit_table_deinit(&table);
	return row;
}

/* Of 1 to N, the smallest that P of all do not exceed is N times P, rounded up. */
static void test_percentiles(void **state)
{
	static const struct {
		uint64_t count, step, median, p99;
	} cases[] = {
		{ 1, 1, 1, 1 },		{ 2, 1, 1, 2 },	      { 3, 2, 2, 3 },
		{ 99, 7, 50, 99 },	{ 100, 7, 50, 99 },   { 101, 7, 51, 100 },
		{ 199, 10, 100, 198 },	{ 200, 7, 100, 198 }, { 1000, 333, 500, 990 },
		{ 1001, 10, 501, 991 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct exits_row row = row_of(cases[i].count, cases[i].step, NULL);

		assert_int_equal(row.min_ns, 1);
		assert_int_equal(row.max_ns, cases[i].count);
		assert_int_equal(row.median_ns, cases[i].median);
		assert_int_equal(row.p99_ns, cases[i].p99);
	}
}

/* Of 1 to 1000, as many are in a bucket as its range has numbers: 1, 2 to 3, 4 to 7, ... */
static void test_histogram(void **state)
{
	uint64_t histogram[EXITS_BUCKETS];

	(void)state;
	row_of(1000, 333, histogram);
	assert_int_equal(histogram[0], 0);
	for (size_t i = 1; i < 10; i++)
		assert_int_equal(histogram[i], 1 << (i - 1));
	assert_int_equal(histogram[10], 1000 - 511);
	assert_int_equal(histogram[11], 0);
}

/* 1 to N: the variance is N (N + 1) / 12, that of the mean N times less. */
static void test_error_of_mean(void **state)
{
	struct exits_row row = row_of(1000, 333, NULL);

	(void)state;
	assert_true(fabs(row.mean_ns - 500.5) < 1e-9);
	assert_true(fabs(row.error - 100 * sqrt(1001 / 12.0) / 500.5) < 1e-9);
	assert_true(row_of(1, 1, NULL).error == 0);
}

/* Each key tells rows apart; what has no time counts without one. */
static void test_keys(void **state)
{
	const struct machine *machines = (const struct machine *)state;
	const struct exits_row keys[] = {
		{ .code = 1 },	 { .code = 1ull << 32 }, { .info = 1 }, { .isa = EXIT_ISA_SVM },
		{ .symbol = 1 }, { .vcpu = 1 },		 { 0 },		{ .vm = machines },
	};
	size_t count = sizeof(keys) / sizeof(*keys);
	struct exit_table table;
	struct exits exits = { 0 };

	exit_table_init(&table);
	for (size_t round = 0; round < 3; round++)
		for (size_t i = 0; i < count; i++)
			for (size_t times = 0; times <= i; times++)
				exit_table_count(&table, &keys[i]);
	exit_table_count_timed(&table, &keys[0], 17);
	exit_table_finish(&table, &exits);
	assert_int_equal(exits.rows.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(exits.rows.items[i].count, 3 * (i + 1) + (i == 0));
	assert_int_equal(exits.rows.items[0].timed, 1);
	assert_int_equal(exits.rows.items[0].median_ns, 17);
	assert_int_equal(exits.rows.items[1].timed, 0);
	assert_int_equal(exits.total_ns, 17);
	exits_deinit(&exits);
	exit_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_error_of_mean),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
