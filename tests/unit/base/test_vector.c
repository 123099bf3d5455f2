/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/vector.h"

static void grows_and_keeps_content(void **state)
{
	VECTOR(int) numbers = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		vector_append(&numbers, i * i);
	assert_int_equal(numbers.count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(numbers.items[i], i * i);
	vector_deinit(&numbers);
	assert_null(numbers.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows_and_keeps_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
