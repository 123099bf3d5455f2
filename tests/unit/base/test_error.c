/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>

static void carries_code_and_message(void **state)
{
	_cleanup_error_ struct error *error = error_create(ERROR_BAD_DATA, "bad %s", "luck");

	(void)state;
	assert_int_equal(error_code(error), ERROR_BAD_DATA);
	assert_string_equal(error_message(error), "bad luck");
	assert_null(error_hint_text(error));
}

static void maps_errno(void **state)
{
	static const struct {
		int errno_value;
		enum error_code code;
	} rows[] = {
		{ EPERM, ERROR_PERMISSION }, { EACCES, ERROR_PERMISSION },
		{ ENOENT, ERROR_NOT_FOUND }, { ESRCH, ERROR_NOT_FOUND },
		{ EIO, ERROR_SYSTEM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_error(error_system(rows[i].errno_value, "x"), rows[i].code);
}

static void prefix_keeps_code_and_first_hint(void **state)
{
	_cleanup_error_ struct error *error = error_system(ENOENT, "could not open '%s'", "f");

	(void)state;
	error = error_hint(error, "look in %d places", 2);
	error = error_prefix(error, "loading symbols");
	error = error_hint(error, "a vaguer hint");
	assert_int_equal(error_code(error), ERROR_NOT_FOUND);
	assert_string_equal(error_message(error),
			    "loading symbols: could not open 'f': No such file or directory");
	assert_string_equal(error_hint_text(error), "look in 2 places");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carries_code_and_message),
		cmocka_unit_test(maps_errno),
		cmocka_unit_test(prefix_keeps_code_and_first_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
