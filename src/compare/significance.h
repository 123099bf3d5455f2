/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a function's share differs between two recordings by more than chance.
 *
 * Samples come in bursts: a function that ran once for a tenth of a second has a hundred samples,
 * which say as little as one. So the time of each recording is cut into blocks, and the scatter of
 * the share between blocks gives its variance (that of a ratio of sums; Cochran, Sampling
 * Techniques, section 6.3). The variance of independent samples is the least that is assumed.
 */
#ifndef COMPARE_SIGNIFICANCE_H
#define COMPARE_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one recording says of one function. */
struct share_evidence {
	double share;		/* 0 to 1: of the periods */
	uint64_t count, all;	/* of samples: the function's, and all */
	double scatter;		/* variance of the share between blocks of time */
	size_t blocks;		/* with samples; under 2: scatter is not known */
	/*
	 * The share is of time: of a CPU, so it may be above 1. ALL is then how many samples a CPU
	 * that is always busy would have.
	 */
	bool of_time;
};

/* A function's part of the periods in one block of time. */
struct share_block {
	uint32_t block;
	double period;
};

/*
 * The variance of a function's share of the sum of WHOLE, which has the periods of all samples in
 * each block, by the scatter between blocks. PARTS are the COUNT blocks in which the function
 * has samples, each once. Blocks in which WHOLE is 0 do not count; *RET_BLOCKS are the others. 0
 * with fewer than two.
 */
double share_scatter(const struct share_block *parts, size_t count, const double *whole,
		     size_t whole_count, size_t *ret_blocks);

struct share_difference {
	double delta;  /* of the shares: the second minus the first */
	double margin; /* half of the interval that contains the true one with 95 % confidence */
	double p;      /* of a difference at least as large, if there were none; two-sided */
};
struct share_difference share_compare(const struct share_evidence *first,
				      const struct share_evidence *second);

/*
 * Functions with fewer samples in both recordings together are not judged: they could not differ
 * by more than chance, whatever their samples.
 */
#define SHARE_MIN_SAMPLES 10

/*
 * Which of COUNT differences are more than chance, by Holm's method: if there is no difference at
 * all, the probability that any is called one is at most ALPHA. P above 1 is not judged, and does
 * not weaken the others.
 */
void share_judge(const double *p, size_t count, double alpha, bool *ret_certain);

/* Student's distribution with DEGREES of freedom: the probability of at least |T|, two-sided. */
double student_tail(double t, double degrees);

#endif
