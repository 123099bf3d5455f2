/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/options.h"

struct config {
	bool all;
	const char *output;
	struct string_list events;
	uint64_t frequency;
	double duration, share;
};

#define FIELD(name) offsetof(struct config, name)

static const struct option_spec table[] = {
	{ OPTION_FLAG, 'a', "all", FIELD(all), NULL, "everything" },
	{ OPTION_STRING, 'o', "output", FIELD(output), "FILE", "where to" },
	{ OPTION_STRINGS, 'e', "event", FIELD(events), "EVENT", "what" },
	{ OPTION_UNSIGNED, 'F', "freq", FIELD(frequency), "HZ", "how often", 1, 1000 },
	{ OPTION_SECONDS, 0, "duration", FIELD(duration), "S", "how long" },
	{ OPTION_PERCENT, 0, "share", FIELD(share), "PERCENT", "how much" },
	{ 0 },
};

static struct error *parse(struct config *config, int *ret_rest, const char *const *words)
{
	int argc = 0;

	while (words[argc])
		argc++;
	*config = (struct config){ 0 };
	return options_parse(table, config, argc, (char **)words, ret_rest);
}

static void fills_the_config(void **state)
{
	const char *words[] = { "record", "-a", "-e", "one", "--event=two", "-F99", "--duration",
				"0.5",	  "-o", "x",  "--share=100", "--",   "cmd",	  "-a",
				NULL };
	struct config config;
	int rest;

	(void)state;
	assert_no_error(parse(&config, &rest, words));
	assert_true(config.all);
	assert_string_equal(config.output, "x");
	assert_int_equal(config.events.count, 2);
	assert_string_equal(config.events.items[0], "one");
	assert_string_equal(config.events.items[1], "two");
	assert_int_equal(config.frequency, 99);
	assert_true(config.duration == 0.5);
	assert_true(config.share == 100);
	assert_int_equal(rest, 12);
	vector_deinit(&config.events);
}

static void stops_at_the_first_argument(void **state)
{
	const char *words[] = { "record", "-a", "sleep", "-F", "5", NULL };
	struct config config;
	int rest;

	(void)state;
	assert_no_error(parse(&config, &rest, words));
	assert_int_equal(rest, 2);
	assert_int_equal(config.frequency, 0);
}

static void says_what_is_wrong(void **state)
{
	static const struct {
		const char *words[4];
		const char *message;
	} rows[] = {
		{ { "x", "--nope" }, "unknown option '--nope'" },
		{ { "x", "-z" }, "unknown option '-z'" },
		{ { "x", "-o" }, "-o needs an argument" },
		{ { "x", "--output" }, "--output needs an argument" },
		{ { "x", "--all=3" }, "--all=3 takes no argument" },
		{ { "x", "-F", "abc" }, "--freq takes a whole number, not 'abc'" },
		{ { "x", "-F", "-1" }, "--freq takes a whole number, not '-1'" },
		{ { "x", "-F", "0" }, "--freq must be at least 1" },
		{ { "x", "-F", "1001" }, "--freq must be at most 1000" },
		{ { "x", "-F", "99999999999999999999" },
		  "--freq takes a whole number, not '99999999999999999999'" },
		{ { "x", "--duration", "0" },
		  "--duration takes seconds (such as 10 or 0.5), not '0'" },
		{ { "x", "--duration", "inf" },
		  "--duration takes seconds (such as 10 or 0.5), not 'inf'" },
		{ { "x", "--share", "100.1" },
		  "--share takes a percentage (2 or 0.5, at most 100), not '100.1'" },
		{ { "x", "--share", "2%" },
		  "--share takes a percentage (2 or 0.5, at most 100), not '2%'" },
		{ { "x", "--share", "-1" },
		  "--share takes a percentage (2 or 0.5, at most 100), not '-1'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_cleanup_error_ struct error *error = NULL;
		struct config config;
		int rest;

		error = parse(&config, &rest, rows[i].words);
		assert_non_null(error);
		assert_int_equal(error_code(error), ERROR_USAGE);
		assert_string_equal(error_message(error), rows[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_the_config),
		cmocka_unit_test(stops_at_the_first_argument),
		cmocka_unit_test(says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
