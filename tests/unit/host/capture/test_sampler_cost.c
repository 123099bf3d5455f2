/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the histogram of the sampler's cost with the sorted durations themselves: buckets are in
 * order, without gaps, and as narrow as specified; quantiles are in the same bucket as in the
 * sorted list.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "host/capture/sampler_cost.h"

#define DURATIONS 20000

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13; /* xorshift64 */
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Buckets increase one by one, and each but the last ends within a quarter of its start. */
static void test_buckets(void **state)
{
	uint64_t first = 0;
	unsigned before = 0;

	(void)state;
	assert_int_equal(sampler_cost_bucket(0), 0);
	for (uint64_t ns = 1; ns < 1 << 20; ns++) {
		unsigned bucket = sampler_cost_bucket(ns);

		if (bucket == before)
			continue;
		assert_int_equal(bucket, before + 1);
		assert_true(ns - 1 - first <= first / 4);
		first = ns;
		before = bucket;
	}
	assert_int_equal(sampler_cost_bucket(4), 4);
	assert_int_equal(sampler_cost_bucket(9), 8);
	assert_int_equal(sampler_cost_bucket(16), 12);
	assert_int_equal(sampler_cost_bucket(7499999999), SAMPLER_COST_BUCKETS - 2);
	assert_int_equal(sampler_cost_bucket(7516192768), SAMPLER_COST_BUCKETS - 1);
	assert_int_equal(sampler_cost_bucket(UINT64_MAX), SAMPLER_COST_BUCKETS - 1);
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void check(uint64_t *durations, size_t count)
{
	static const double shares[] = { 0.0001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	struct sampler_cost cost = { 0 };
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		cost.counts[sampler_cost_bucket(durations[i])]++;
		cost.total_ns += durations[i];
		total += durations[i];
	}
	qsort(durations, count, sizeof(*durations), compare);
	assert_int_equal(sampler_cost_samples(&cost), count);
	assert_int_equal(cost.total_ns, total);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		size_t rank = 1; /* the lowest rank that is not below the share */
		uint64_t truth, told = sampler_cost_quantile(&cost, shares[i]);

		while ((double)rank < shares[i] * (double)count)
			rank++;
		truth = durations[rank - 1];
		assert_int_equal(sampler_cost_bucket(told), sampler_cost_bucket(truth));
		assert_true(llabs((long long)(told - truth)) * 8 <= (long long)truth);
	}
}

static void test_quantiles(void **state)
{
	uint64_t *durations = calloc(DURATIONS, sizeof(*durations)), random = 88172645463325252;
	uint64_t few[] = { 700, 3, 90000 };

	(void)state;
	for (size_t i = 0; i < DURATIONS; i++)
		durations[i] = 500 + next_random(&random) % 4000;
	check(durations, DURATIONS);
	for (size_t i = 0; i < DURATIONS; i++) /* all orders of magnitude */
		durations[i] = (next_random(&random) >> 32) >> next_random(&random) % 32;
	check(durations, DURATIONS);
	for (size_t i = 0; i < DURATIONS; i++) /* with a few slow ones */
		durations[i] = i % 150 ? 800 : 250000;
	check(durations, DURATIONS);
	check(few, 3);
	check(few, 1);
	free(durations);
}

static void test_empty_and_sum(void **state)
{
	struct sampler_cost sum = { 0 }, cost = { .total_ns = 30 };

	(void)state;
	assert_int_equal(sampler_cost_quantile(&sum, 0.5), 0);
	cost.counts[sampler_cost_bucket(10)] = 3;
	sampler_cost_add(&sum, &cost);
	sampler_cost_add(&sum, &cost);
	assert_int_equal(sampler_cost_samples(&sum), 6);
	assert_int_equal(sum.total_ns, 60);
	assert_int_equal(sampler_cost_quantile(&sum, 1), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_empty_and_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
