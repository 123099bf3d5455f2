/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the histogram of src/bpf/sampler_cost.h says. */
#ifndef HOST_CAPTURE_SAMPLER_COST_H
#define HOST_CAPTURE_SAMPLER_COST_H

#include <stdint.h>

#include "bpf/sampler_cost.h"

uint64_t sampler_cost_samples(const struct sampler_cost *cost);
/*
 * What SHARE of the samples (more than 0, at most 1) did not exceed, in ns, to an eighth of it: the
 * middle of the bucket of the sample that sorting would find there. 0 where there is none.
 */
uint64_t sampler_cost_quantile(const struct sampler_cost *cost, double share);
void sampler_cost_add(struct sampler_cost *sum, const struct sampler_cost *cost);

#endif
