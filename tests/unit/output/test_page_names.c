/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "output/page/page_names.h"

#define MANY 4000
#define LONG 2000

struct written {
	char *text;
	size_t size, cut;
};

/* A "short" name, then MANY different ones that consist of FILL. */
static struct written write_names(const char *fill)
{
	struct intern *texts = intern_create();
	uint32_t numbers[MANY + 1];
	struct written written;
	struct json json;

	numbers[0] = intern_text(texts, "short");
	for (int i = 1; i <= MANY; i++) {
		char name[LONG + 1], *end = name + snprintf(name, sizeof(name), "%d:", i);

		while (end + strlen(fill) <= name + LONG)
			end = stpcpy(end, fill);
		numbers[i] = intern_text(texts, name);
	}
	json_init(&json, open_memstream(&written.text, &written.size));
	json_open_object(&json, NULL);
	page_names_write(&json, texts, numbers, MANY + 1);
	json_close(&json);
	fclose(json.out);
	assert_non_null(strstr(written.text, "\"short\""));
	written.cut = strtoull(strstr(written.text, "\"names_cut\": ") + 13, NULL, 10);
	intern_destroy(texts);
	return written;
}

static void long_names_are_cut(void **state)
{
	/* Letters; what JSON escapes; what it writes as an escape of a character out of UTF-8. */
	static const char *const fills[] = { "x", "\"", "\x1b", "\xff", "\xe2\x82\xac" };

	(void)state;
	for (size_t i = 0; i < sizeof(fills) / sizeof(*fills); i++) {
		struct written written = write_names(fills[i]);

		assert_int_equal(written.cut, MANY);
		/* quotes, a comma, a line's indentation and the dots for each */
		assert_true(written.size < PAGE_NAMES_BYTES + 20 * MANY);
		if (!i)
			assert_true(written.size > PAGE_NAMES_BYTES * 9 / 10);
		assert_non_null(strstr(written.text, "\"4000:"));
		free(written.text);
	}
}

static void names_that_fit_stay(void **state)
{
	struct intern *texts = intern_create();
	uint32_t numbers[2] = { 0, 0 };
	char *text, *name = memory_calloc(PAGE_NAMES_BYTES / 2, 1);
	struct json json;
	size_t size;

	(void)state;
	memset(name, 'n', PAGE_NAMES_BYTES / 2 - 1);
	numbers[1] = intern_text(texts, name);
	json_init(&json, open_memstream(&text, &size));
	json_open_object(&json, NULL);
	page_names_write(&json, texts, numbers, 2);
	json_close(&json);
	fclose(json.out);
	assert_non_null(strstr(text, name));
	assert_non_null(strstr(text, "\"names_cut\": 0\n"));
	intern_destroy(texts);
	free(text);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(names_that_fit_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
