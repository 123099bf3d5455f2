/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/ranges.h"
#include "base/vector.h"

static void test_lists(void **state)
{
	struct ranges ranges = { 0 };

	(void)state;
	assert_true(ranges_admit(&ranges, 17)); /* no condition */
	assert_true(ranges_parse("0-3,7", &ranges));
	assert_int_equal(ranges.count, 2);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(ranges_admit(&ranges, i), i <= 3 || i == 7);
	assert_true(ranges_parse("18446744073709551615", &ranges));
	assert_true(ranges_admit(&ranges, UINT64_MAX));
	vector_deinit(&ranges);
}

static void test_wrong(void **state)
{
	static const char *const wrong[] = { "",   "a",	 "1-",	  "-1",	 "3-1",
					     "1,", ",1", "1,,2", "1 2", "1-2-3",
					     "0x1", "18446744073709551616" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct ranges ranges = { 0 };

		assert_false(ranges_parse(wrong[i], &ranges));
		vector_deinit(&ranges);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
