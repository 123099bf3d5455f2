/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"

static char *text;
static size_t size;

static struct json start(void)
{
	struct json json;

	json_init(&json, open_memstream(&text, &size));
	return json;
}

static void expect(struct json *json, const char *expected)
{
	fclose(json->out);
	assert_string_equal(text, expected);
	free(text);
}

static void nests_and_separates(void **state)
{
	struct json json = start();

	(void)state;
	json_open_object(&json, NULL);
	json_open_array(&json, "vms");
	json_open_object(&json, NULL);
	json_unsigned(&json, "pid", 1);
	json_bool(&json, "ok", true);
	json_close(&json);
	json_null(&json, NULL);
	json_close(&json);
	json_open_array(&json, "none");
	json_close(&json);
	json_signed(&json, "least", INT64_MIN);
	json_unsigned(&json, "most", UINT64_MAX);
	json_close(&json);
	expect(&json, "{\n"
		      "  \"vms\": [\n"
		      "    {\n"
		      "      \"pid\": 1,\n"
		      "      \"ok\": true\n"
		      "    },\n"
		      "    null\n"
		      "  ],\n"
		      "  \"none\": [],\n"
		      "  \"least\": -9223372036854775808,\n"
		      "  \"most\": 18446744073709551615\n"
		      "}\n");
}

static void writes_on_one_line(void **state)
{
	struct json json = start();

	(void)state;
	json_open_object(&json, NULL);
	json_open_line(&json, "rows");
	json_unsigned(&json, NULL, 1);
	json_open_object(&json, NULL);
	json_string(&json, "name", "a");
	json_open_array(&json, "none");
	json_close(&json);
	json_close(&json);
	json_milliseconds(&json, NULL, 64164526853933);
	json_milliseconds(&json, NULL, 1);
	json_close(&json);
	json_null(&json, "after");
	json_close(&json);
	expect(&json, "{\n"
		      "  \"rows\": [1,{\"name\":\"a\",\"none\":[]},64164526.853933,0.000001],\n"
		      "  \"after\": null\n"
		      "}\n");
}

static void escapes_what_json_wants_escaped(void **state)
{
	struct json json = start();

	(void)state;
	json_string(&json, NULL, "a\"b\\c\n\x01\x7f/\xc3\xa9\xf0\x9f\x98\x80");
	expect(&json, "\"a\\\"b\\\\c\\u000a\\u0001\\u007f/\xc3\xa9\xf0\x9f\x98\x80\"\n");
	/* U+E0001 is invisible: two surrogates, as Python's json writes it */
	json = start();
	json_string(&json, NULL, "\xf3\xa0\x80\x81");
	expect(&json, "\"\\udb40\\udc01\"\n");
}

static void replaces_bytes_that_are_no_text(void **state)
{
	struct json json = start();

	(void)state;
	/* Cut off, overlong, a surrogate, above U+10FFFF, a lone continuation byte. */
	json_string(&json, NULL, "\xc3 \xc0\x80 \xed\xa0\x80 \xf5 \x80 \xe2\x82");
	expect(&json, "\"\\ufffd \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \\ufffd \\ufffd \\ufffd"
		      "\\ufffd\"\n");
}

static void writes_numbers_that_read_back(void **state)
{
	const double values[] = { 0, 1, 0.1, 1.0 / 3, 1e300, -2.5e-10, 75.25 };
	struct json json = start();
	char *rest;

	(void)state;
	json_open_array(&json, NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		json_double(&json, NULL, values[i]);
	json_double(&json, NULL, NAN);
	json_double(&json, NULL, INFINITY);
	json_close(&json);
	fclose(json.out);
	rest = text + 1;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		assert_true(strtod(rest, &rest) == values[i]);
		assert_int_equal(*rest++, ',');
	}
	assert_string_equal(rest, "\n  null,\n  null\n]\n");
	free(text);
}

static void null_text_is_null(void **state)
{
	struct json json = start();

	(void)state;
	json_open_object(&json, NULL);
	json_string(&json, "a", NULL);
	json_string(&json, "b", "");
	json_close(&json);
	expect(&json, "{\n  \"a\": null,\n  \"b\": \"\"\n}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nests_and_separates),
		cmocka_unit_test(writes_on_one_line),
		cmocka_unit_test(escapes_what_json_wants_escaped),
		cmocka_unit_test(replaces_bytes_that_are_no_text),
		cmocka_unit_test(writes_numbers_that_read_back),
		cmocka_unit_test(null_text_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
