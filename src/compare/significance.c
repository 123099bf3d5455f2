/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/memory.h"

#define CONFIDENCE_TAIL 0.05 /* of the interval */
#define MAX_DEGREES 1e6	     /* more are like a normal distribution */

/*
 * The continued fraction of the incomplete beta function (NIST, Digital Library of Mathematical
 * Functions, 8.17.22), by Lentz's method.
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	double result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double factors[] = { even, odd }, step = 1;

		for (size_t i = 0; i < 2; i++) {
			d = 1 + factors[i] * d;
			c = 1 + factors[i] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			step = c * d;
			result *= step;
		}
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return result;
}

/* The regularized incomplete beta function; 0 <= X <= 1. */
static double beta_share(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_tail(double t, double degrees)
{
	if (degrees >= MAX_DEGREES)
		return erfc(fabs(t) / sqrt(2));
	return beta_share(degrees / 2, 0.5, degrees / (degrees + t * t));
}

#define NORMAL_QUANTILE 1.959963984540054 /* of CONFIDENCE_TAIL, two-sided */

/*
 * The t that has a two-sided tail of CONFIDENCE_TAIL: by the series of Abramowitz and Stegun,
 * Handbook of Mathematical Functions, 26.7.5, which is exact to 0.2 % from 4 degrees on.
 */
static double student_quantile(double degrees)
{
	const double z = NORMAL_QUANTILE, z2 = z * z;
	double low = 0, high = 100, result = z;

	if (degrees >= 4) {
		result += z * (z2 + 1) / 4 / degrees;
		result += z * (5 * z2 * z2 + 16 * z2 + 3) / 96 / (degrees * degrees);
		result += z * (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / 384 /
			  (degrees * degrees * degrees);
		return result;
	}
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (student_tail(middle, degrees) > CONFIDENCE_TAIL)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double share_scatter(const struct share_block *parts, size_t count, const double *whole,
		     size_t whole_count, size_t *ret_blocks)
{
	double sum = 0, all = 0, squares = 0, share;
	size_t blocks = 0;

	for (size_t i = 0; i < count; i++)
		sum += parts[i].period;
	for (size_t i = 0; i < whole_count; i++) {
		all += whole[i];
		squares += whole[i] * whole[i];
		blocks += whole[i] > 0;
	}
	*ret_blocks = blocks;
	if (blocks < 2)
		return 0;
	share = sum / all;
	squares *= share * share; /* as if there were nothing in any block */
	for (size_t i = 0; i < count; i++) {
		double expected = share * whole[parts[i].block];
		double rest = parts[i].period - expected;

		squares += rest * rest - expected * expected;
	}
	return fmax(squares, 0) / (all * all) * blocks / (blocks - 1);
}

/*
 * A part of a fixed number of samples is binomial; of time, the number itself is chance (Poisson).
 */
static double independent_variance(double share, uint64_t samples, bool of_time)
{
	return samples ? share * (of_time ? 1 : 1 - share) / samples : 0;
}

/* By Welch's formula, from the scatter of both. */
static double degrees_of_freedom(const struct share_evidence *first,
				 const struct share_evidence *second)
{
	double sum = first->scatter + second->scatter, parts = 0;

	if (first->blocks < 2 || second->blocks < 2)
		return MAX_DEGREES;
	if (sum <= 0)
		return first->blocks + second->blocks - 2;
	parts += first->scatter * first->scatter / (first->blocks - 1);
	parts += second->scatter * second->scatter / (second->blocks - 1);
	return sum * sum / parts;
}

struct share_difference share_compare(const struct share_evidence *first,
				      const struct share_evidence *second)
{
	struct share_difference result = { .delta = second->share - first->share, .p = 1 };
	double scatter = first->scatter + second->scatter;
	double degrees = degrees_of_freedom(first, second);
	double pooled, least, distance;

	if (!first->all || !second->all)
		return result;
	least = independent_variance(first->share, first->all, first->of_time) +
		independent_variance(second->share, second->all, second->of_time);
	result.margin = student_quantile(degrees) * sqrt(fmax(least, scatter));
	/* If there is no difference, the share is that of both together. */
	pooled = (first->share * first->all + second->share * second->all) /
		 (first->all + second->all);
	least = independent_variance(pooled, first->all, first->of_time) +
		independent_variance(pooled, second->all, second->of_time);
	/* Counts are whole: Yates's correction. */
	distance = fabs(result.delta) - 0.5 / first->all - 0.5 / second->all;
	if (distance > 0 && fmax(least, scatter) > 0)
		result.p = student_tail(distance / sqrt(fmax(least, scatter)), degrees);
	return result;
}

struct ordered {
	double p;
	size_t index;
};

static int compare_p(const void *left, const void *right)
{
	double a = ((const struct ordered *)left)->p, b = ((const struct ordered *)right)->p;

	return (a > b) - (a < b);
}

void share_judge(const double *p, size_t count, double alpha, bool *ret_certain)
{
	_cleanup_free_ struct ordered *order = memory_calloc(count + 1, sizeof(*order));
	size_t judged = 0;

	for (size_t i = 0; i < count; i++) {
		ret_certain[i] = false;
		if (p[i] <= 1)
			order[judged++] = (struct ordered){ .p = p[i], .index = i };
	}
	qsort(order, judged, sizeof(*order), compare_p);
	for (size_t i = 0; i < judged && order[i].p <= alpha / (judged - i); i++)
		ret_certain[order[i].index] = true;
}
