/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which addresses of a guest are the hottest, within bounded memory. */
#include "test.h"

#include "host/record/hot_code.h"

static void note(struct hot_code *code, uint64_t mm, uint64_t ip, size_t times)
{
	const struct hot_place place = { GVA(mm), GVA(ip) };

	for (size_t i = 0; i < times; i++)
		hot_code_note(code, &place);
}

static void the_hottest_are_chosen_once(void **state)
{
	struct hot_place chosen[8];
	struct hot_code code;

	(void)state;
	hot_code_init(&code);
	note(&code, 0, 0x1000, 60);
	note(&code, 7, 0x1000, 30); /* the same address in a process is another place */
	note(&code, 0, 0x2000, 6);
	note(&code, 0, 0x3000, 4); /* beyond 95 % */
	assert_int_equal(hot_code_choose(&code, chosen, 8), 3);
	assert_int_equal(chosen[0].ip.value, 0x1000);
	assert_int_equal(chosen[0].mm.value, 0);
	assert_int_equal(chosen[1].mm.value, 7);
	assert_int_equal(chosen[2].ip.value, 0x2000);
	assert_int_equal(code.unchosen, 4);
	assert_int_equal(hot_code_choose(&code, chosen, 8), 0);
	note(&code, 0, 0x3000, 20);
	assert_int_equal(hot_code_choose(&code, chosen, 8), 1);
	assert_int_equal(chosen[0].ip.value, 0x3000);
	hot_code_deinit(&code);
}

static void at_most_so_many_at_once(void **state)
{
	struct hot_place chosen[4];
	struct hot_code code;

	(void)state;
	hot_code_init(&code);
	for (size_t i = 0; i < 6; i++)
		note(&code, 0, 0x1000 * (i + 1), 20);
	assert_int_equal(hot_code_choose(&code, chosen, 4), 4);
	assert_int_equal(hot_code_choose(&code, chosen, 4), 2);
	assert_int_equal(code.chosen, 6);
	hot_code_deinit(&code);
}

/* A guest that runs everywhere does not push out where most of its samples are. */
static void the_coldest_are_forgotten(void **state)
{
	struct hot_place chosen[1];
	struct hot_code code;

	(void)state;
	hot_code_init(&code);
	note(&code, 0, 0x42, 1000);
	for (size_t i = 0; i < 10 * HOT_CODE_PLACES; i++) {
		note(&code, 1, 0x100000 + i, 1);
		assert_true(code.counts.count <= HOT_CODE_PLACES);
	}
	assert_true(code.samples <= 1000 + HOT_CODE_PLACES);
	assert_int_equal(hot_code_choose(&code, chosen, 1), 1);
	assert_int_equal(chosen[0].ip.value, 0x42);
	hot_code_deinit(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hottest_are_chosen_once),
		cmocka_unit_test(at_most_so_many_at_once),
		cmocka_unit_test(the_coldest_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
