/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Quantiles of a histogram by nearest rank: sample number ceil(share * samples). */
#include "host/capture/sampler_cost.h"

#define STEPS (1u << SAMPLER_COST_STEP_BITS)

uint64_t sampler_cost_samples(const struct sampler_cost *cost)
{
	uint64_t samples = 0;

	for (unsigned i = 0; i < SAMPLER_COST_BUCKETS; i++)
		samples += cost->counts[i];
	return samples;
}

/* The middle of the values that sampler_cost_bucket() puts into a bucket. */
static uint64_t middle_of(unsigned bucket)
{
	unsigned shift;
	uint64_t first, width;

	if (bucket < STEPS)
		return bucket;
	shift = bucket / STEPS - 1;
	first = (uint64_t)(STEPS + bucket % STEPS) << shift;
	width = (uint64_t)1 << shift;
	return first + (width - 1) / 2;
}

uint64_t sampler_cost_quantile(const struct sampler_cost *cost, double share)
{
	double wanted = share * (double)sampler_cost_samples(cost);
	uint64_t rank = (uint64_t)wanted, seen = 0;

	rank += (double)rank < wanted;
	for (unsigned i = 0; i < SAMPLER_COST_BUCKETS; i++) {
		seen += cost->counts[i];
		if (seen && seen >= rank)
			return middle_of(i);
	}
	return 0;
}

void sampler_cost_add(struct sampler_cost *sum, const struct sampler_cost *cost)
{
	for (unsigned i = 0; i < SAMPLER_COST_BUCKETS; i++)
		sum->counts[i] += cost->counts[i];
	sum->total_ns += cost->total_ns;
}
