/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times of --time: by the examples of perf-report(1) and tools/perf/tests/time-utils-test.c. */
#include "session/filter/filter.h"

#include <stdlib.h>

#include "test.h"

static const struct filter_span span = { 1000, 11000 };

static void check(const char *text, size_t count, const uint64_t *want)
{
	struct ranges ranges = { 0 };

	assert_true(filter_parse_times(text, &span, &ranges));
	assert_int_equal(ranges.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(ranges.items[i].first, want[2 * i]);
		assert_int_equal(ranges.items[i].last, want[2 * i + 1]);
	}
	free(ranges.items);
}
#define CHECK(text, ...)                                                                           \
	do {                                                                                       \
		const uint64_t want_[] = { __VA_ARGS__ };                                          \
		check(text, sizeof(want_) / sizeof(*want_) / 2, want_);                            \
	} while (0)

/* time-utils-test.c: test__parse_nsec_time() and test__perf_time__parse_str() */
static void seconds(void **state)
{
	(void)state;
	CHECK("1234567.123456789,1234567.123456789", 1234567123456789, 1234567123456789);
	CHECK("1234567.123456789,1234567.123456790", 1234567123456789, 1234567123456790);
	CHECK("1234567.123456789,", 1234567123456789, UINT64_MAX);
	CHECK(",1234567.123456789", 0, 1234567123456789);
	CHECK("0,1234567.123456789", 0, 1234567123456789);
	CHECK("0.000000001,1", 1, 1000000000);
	CHECK("18446744073.709551615,", UINT64_MAX, UINT64_MAX);
	CHECK("1.0,2.0 3.5,4", 1000000000, 2000000000, 3500000000, 4000000000);
	CHECK(" 1,2  5, ", 1000000000, 2000000000, 5000000000, UINT64_MAX);
}

/* The same file, test__perf_time__parse_for_ranges(): a range of percents ends before the next. */
static void percents(void **state)
{
	(void)state;
	CHECK("10%/1", 1000, 1999);
	CHECK("10%/2", 2000, 2999);
	CHECK("10%/1,10%/2", 1000, 1999, 2000, 2999);
	CHECK("10%/1,10%/3,10%/10", 1000, 1999, 3000, 3999, 10000, 11000);
	CHECK("10%", 1000, 1999);
	CHECK("0%-10%,30%-40%", 1000, 1999, 4000, 4999);
	CHECK("50%-100%", 6000, 11000);
	CHECK("100%", 1000, 11000);
}

static void what_is_none(void **state)
{
	static const char *const texts[] = {
		"", ",", "5", "x,y", "2,1", "1,2 2,3", "1,2,3", ".5,1", "1.0000000001,2", "-1,2",
		"18446744073.709551616,", "99999999999999999999,", "%", "10%-", "-10%", "20%-10%",
		"10%/0", "10%/11", "10%/x", "0%", "101%", "nan%", "-5%", "10%/1,", "10%x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct ranges ranges = { 0 };

		if (filter_parse_times(texts[i], &span, &ranges))
			fail_msg("'%s' was taken", texts[i]);
		free(ranges.items);
	}
}

static void numbers(void **state)
{
	static const char *const wrong[] = { "", ",", "1,", "3-1", "-1", "1-", "x", "1 ", "1--2",
					     "18446744073709551616" };
	struct ranges ranges = { 0 };

	(void)state;
	assert_true(ranges_parse("0-3,7,18446744073709551615", &ranges));
	assert_int_equal(ranges.count, 3);
	assert_int_equal(ranges.items[0].last, 3);
	assert_int_equal(ranges.items[1].first, 7);
	assert_int_equal(ranges.items[2].last, UINT64_MAX);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(ranges_parse(wrong[i], &ranges));
	free(ranges.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds),
		cmocka_unit_test(percents),
		cmocka_unit_test(what_is_none),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
