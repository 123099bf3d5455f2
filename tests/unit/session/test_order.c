/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting runs by time: the result is sorted, stable and complete. */
#include "test.h"

#include <stdlib.h>

#include "session/order.h"

static void check_sorted(size_t count, uint64_t range, size_t run)
{
	struct order_entry *entries = calloc(count ? count : 1, sizeof(*entries));
	uint64_t time = 0, sum = 0;

	for (size_t i = 0; i < count; i++) {
		time = run && i % run ? time + rand() % 3 : (uint64_t)rand() % range;
		entries[i] = (struct order_entry){ .time = time, .value = i };
	}
	order_sort(entries, count);
	for (size_t i = 0; i < count; i++) {
		sum += entries[i].value;
		if (!i)
			continue;
		assert_true(entries[i - 1].time <= entries[i].time);
		if (entries[i - 1].time == entries[i].time)
			assert_true(entries[i - 1].value < entries[i].value);
	}
	assert_int_equal(sum, count ? count * (count - 1) / 2 : 0);
	free(entries);
}

static void runs_are_merged(void **state)
{
	(void)state;
	srand(3);
	for (size_t count = 0; count < 40; count++)
		check_sorted(count, 10, 0);
	check_sorted(10000, 100, 0);
	check_sorted(10000, 1000000, 100);
	check_sorted(10000, 1000000, 9999);
	check_sorted(10000, 1, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(runs_are_merged) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
