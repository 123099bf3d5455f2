/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether differences are more than chance: against tables of Student's distribution, and on
 * simulated recordings of one load, whose error rate must be the stated one.
 */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "compare/significance.h"

/* Two-sided tails of published tables: NIST/SEMATECH e-Handbook, 1.3.6.7.2. */
static void test_student(void **state)
{
	static const struct {
		double t, degrees, tail;
	} rows[] = { { 12.706, 1, 0.05 }, { 4.303, 2, 0.05 },	{ 2.228, 10, 0.05 },
		     { 3.169, 10, 0.01 }, { 2.042, 30, 0.05 },	{ 3.646, 30, 0.001 },
		     { 1.984, 100, 0.05 }, { 1.960, INFINITY, 0.05 }, { 3.291, INFINITY, 0.001 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_true(fabs(student_tail(rows[i].t, rows[i].degrees) / rows[i].tail - 1) <
			    0.003);
	assert_true(student_tail(0, 5) == 1);
	assert_true(student_tail(1e9, 1e9) < 1e-9);
}

#define FUNCTIONS 100
#define SAMPLES 20000
#define BLOCKS 40
#define PAIRS 200

struct simulated {
	uint64_t counts[FUNCTIONS];
	double parts[FUNCTIONS][BLOCKS];
	double whole[BLOCKS];
};

static uint64_t random_state;

/* xorshift64*; 0 <= result < 1 */
static double next_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dULL >> 11) * 0x1p-53;
}

/* A function with a share of 1 / (rank + 2), cut off. MORE is added to the last one's. */
static size_t choose_function(double more)
{
	double sum = 0, at;

	for (size_t i = 0; i < FUNCTIONS; i++)
		sum += 1.0 / (i + 2);
	at = next_random();
	if (at < more)
		return FUNCTIONS - 1;
	at = (at - more) / (1 - more) * sum;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		at -= 1.0 / (i + 2);
		if (at < 0)
			return i;
	}
	return FUNCTIONS - 1;
}

/* Functions run for BURST samples on average. */
static void simulate(struct simulated *ret, double burst, double more)
{
	size_t function = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < SAMPLES; i++) {
		if (!i || next_random() < 1 / burst)
			function = choose_function(more);
		ret->counts[function]++;
		ret->parts[function][i * BLOCKS / SAMPLES]++;
		ret->whole[i * BLOCKS / SAMPLES]++;
	}
}

static struct share_evidence evidence_of(const struct simulated *simulated, size_t function,
					 bool scatter)
{
	struct share_evidence result = { .count = simulated->counts[function], .all = SAMPLES };
	struct share_block blocks[BLOCKS];
	size_t count = 0;

	result.share = (double)result.count / SAMPLES;
	for (uint32_t i = 0; i < BLOCKS; i++)
		if (simulated->parts[function][i])
			blocks[count++] = (struct share_block){
				.block = i, .period = simulated->parts[function][i] };
	if (scatter)
		result.scatter = share_scatter(blocks, count, simulated->whole, BLOCKS,
					       &result.blocks);
	return result;
}

/* How many functions are said to differ; *RET_LAST: whether the last one is. */
static size_t count_certain(const struct simulated *first, const struct simulated *second,
			    bool scatter, bool *ret_last)
{
	double p[FUNCTIONS];
	bool certain[FUNCTIONS];
	size_t count = 0;

	for (size_t i = 0; i < FUNCTIONS; i++) {
		struct share_evidence a = evidence_of(first, i, scatter);
		struct share_evidence b = evidence_of(second, i, scatter);

		p[i] = a.count + b.count < SHARE_MIN_SAMPLES ? INFINITY : share_compare(&a, &b).p;
	}
	share_judge(p, FUNCTIONS, 0.05, certain);
	for (size_t i = 0; i < FUNCTIONS; i++)
		count += certain[i];
	*ret_last = certain[FUNCTIONS - 1];
	return count;
}

/* Of PAIRS pairs, those in which a difference is found; RET_LAST: that of the last function. */
static size_t count_pairs(double burst, double more, bool scatter, size_t *ret_last)
{
	struct simulated *pair = memory_calloc(2, sizeof(*pair));
	size_t found = 0;

	random_state = 88172645463325252ULL;
	*ret_last = 0;
	for (size_t i = 0; i < PAIRS; i++) {
		bool last;

		simulate(&pair[0], burst, 0);
		simulate(&pair[1], burst, more);
		found += count_certain(&pair[0], &pair[1], scatter, &last) > 0;
		*ret_last += last;
	}
	free(pair);
	return found;
}

/* Of 200 pairs of one load at most the stated 5 % show a difference. */
static void test_error_rate(void **state)
{
	static const double bursts[] = { 1, 5, 30, 200 };
	size_t last;

	(void)state;
	for (size_t i = 0; i < sizeof(bursts) / sizeof(*bursts); i++) {
		size_t pairs = count_pairs(bursts[i], 0, true, &last);

		print_message("bursts of %g samples: %zu of %d pairs differ\n", bursts[i], pairs,
			      PAIRS);
		assert_true(pairs <= PAIRS * 0.05);
	}
	/* If samples of bursts counted as independent, most pairs would differ. */
	assert_true(count_pairs(30, 0, false, &last) > PAIRS / 2);
}

/* A difference that is there is found: 1 % more of a function that has 0.26 %. */
static void test_power(void **state)
{
	size_t last;

	(void)state;
	count_pairs(1, 0.01, true, &last);
	print_message("independent samples: found in %zu of %d pairs\n", last, PAIRS);
	assert_true(last >= PAIRS * 0.95);
	count_pairs(5, 0.03, true, &last);
	print_message("bursts: found in %zu of %d pairs\n", last, PAIRS);
	assert_true(last >= PAIRS * 0.9);
}

/* The interval contains the true difference in 95 % of all cases, or in more. */
static void test_interval(void **state)
{
	struct simulated *pair = memory_calloc(2, sizeof(*pair));
	size_t inside = 0, all = 0;

	(void)state;
	random_state = 1442695040888963407ULL;
	for (size_t i = 0; i < PAIRS; i++) {
		simulate(&pair[0], 30, 0);
		simulate(&pair[1], 30, 0);
		for (size_t j = 0; j < 10; j++) {
			struct share_evidence a = evidence_of(&pair[0], j, true);
			struct share_evidence b = evidence_of(&pair[1], j, true);
			struct share_difference difference = share_compare(&a, &b);

			inside += fabs(difference.delta) <= difference.margin;
			all++;
		}
	}
	free(pair);
	print_message("%zu of %zu intervals contain the difference\n", inside, all);
	assert_true(inside >= all * 0.94 && inside < all);
}

static void test_holm(void **state)
{
	/* 0.05/4 = 0.0125, 0.05/3 = 0.0167, 0.05/2 = 0.025: the third is too high */
	static const double p[] = { 0.03, 0.001, 2, 0.016, 0.04 };
	bool certain[5];

	(void)state;
	share_judge(p, 5, 0.05, certain);
	assert_true(!certain[0] && certain[1] && !certain[2] && certain[3] && !certain[4]);
}

static void test_nothing(void **state)
{
	struct share_evidence none = { 0 }, some = { .share = 1, .count = 20, .all = 20 };
	size_t blocks;

	(void)state;
	assert_true(share_compare(&none, &some).p == 1);
	assert_true(share_compare(&none, &none).p == 1);
	assert_true(share_compare(&some, &some).delta == 0);
	assert_true(share_compare(&some, &some).p == 1);
	assert_true(share_scatter(NULL, 0, (double[]){ 0, 5 }, 2, &blocks) == 0 && blocks == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student), cmocka_unit_test(test_error_rate),
		cmocka_unit_test(test_power),	cmocka_unit_test(test_interval),
		cmocka_unit_test(test_holm),	cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
