/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sequences of looks at loads, and the verdicts. The numbers were calculated by hand. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include "host/capture/sampling_budget.h"

#define BUDGET 0.02

/* One look at two threads; on the first, events with a fixed period take another FIXED. */
static struct sampling_verdict look(struct sampling_budget *budget, double fixed, double first,
				    double second)
{
	struct sampling_load loads[] = { { first, fixed }, { second, 0 } };
	struct sampling_verdict verdict;

	for (int i = 0; i < 2; i++)
		sampling_budget_add(budget, &loads[i]);
	sampling_budget_judge(budget, &verdict);
	return verdict;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void test_within(void **state)
{
	struct sampling_budget budget;

	(void)state;
	sampling_budget_init(&budget, BUDGET);
	for (int i = 0; i < 5; i++) {
		struct sampling_verdict verdict = look(&budget, 0.005, 0.015, 0.02);

		assert_true(verdict.factor == 1);
		assert_true(verdict.worst <= BUDGET);
	}
}

/* What counts is the most expensive thread, the second look in a row, and the lower of the two. */
static void test_lowers(void **state)
{
	struct sampling_budget budget;
	struct sampling_verdict verdict;

	(void)state;
	sampling_budget_init(&budget, BUDGET);
	assert_true(look(&budget, 0, 0.01, 0.36).factor == 1);
	verdict = look(&budget, 0, 0.09, 0.01);
	assert_true(near(verdict.factor, 0.2)); /* 0.018 of 0.09 */
	assert_true(near(verdict.worst, 0.09));
	/* At the new rate, it again takes two looks. */
	assert_true(look(&budget, 0, 0.036, 0).factor == 1);
	assert_true(near(look(&budget, 0, 0.036, 0).factor, 0.5));
}

static void test_one_look_is_chance(void **state)
{
	struct sampling_budget budget;

	(void)state;
	sampling_budget_init(&budget, BUDGET);
	for (int i = 0; i < 5; i++) {
		assert_true(look(&budget, 0, 0.5, 0).factor == 1);
		assert_true(look(&budget, 0, 0.01, 0).factor == 1);
	}
}

static void test_fixed(void **state)
{
	struct sampling_budget budget;
	struct sampling_verdict verdict;

	(void)state;
	/* What cannot be lowered leaves less for the rest. */
	sampling_budget_init(&budget, BUDGET);
	look(&budget, 0.008, 0.02, 0);
	assert_true(near(look(&budget, 0.008, 0.02, 0).factor, 0.5));
	/* Fixed events use the whole budget: nothing helps, and the rates stay. */
	sampling_budget_init(&budget, BUDGET);
	look(&budget, 0.05, 0.02, 0);
	verdict = look(&budget, 0.04, 0.01, 0);
	assert_true(verdict.factor == 1);
	assert_true(near(verdict.worst, 0.05));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within),
		cmocka_unit_test(test_lowers),
		cmocka_unit_test(test_one_look_is_chance),
		cmocka_unit_test(test_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
