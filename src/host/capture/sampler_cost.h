/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates the histogram of src/bpf/sampler_cost.h. */
#ifndef HOST_CAPTURE_SAMPLER_COST_H
#define HOST_CAPTURE_SAMPLER_COST_H

#include <stdint.h>

#include "bpf/sampler_cost.h"

uint64_t sampler_cost_samples(const struct sampler_cost *cost);
/*
 * The cost in ns that SHARE of the samples (more than 0, at most 1) did not exceed, accurate to one
 * eighth: the middle of the bucket that contains the sample at this rank. 0 if there are no
 * samples.
 */
uint64_t sampler_cost_quantile(const struct sampler_cost *cost, double share);
void sampler_cost_add(struct sampler_cost *sum, const struct sampler_cost *cost);

#endif
