/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long guest_sampler.bpf.c takes for its samples: a histogram with four buckets per octave,
 * filled by the BPF program on each CPU.
 */
#ifndef BPF_SAMPLER_COST_H
#define BPF_SAMPLER_COST_H

#include <linux/types.h>

#define SAMPLER_COST_STEP_BITS 2
#define SAMPLER_COST_BUCKETS 128 /* a power of two; the last bucket has everything from 7.5 s on */

struct sampler_cost {
	__u64 counts[SAMPLER_COST_BUCKETS];
	__u64 total_ns; /* sum of everything that was counted */
};

/*
 * Below 4 ns, each value has its own bucket. Above, the bucket is given by the highest bit and the
 * two bits below it: bucket 4 is 4 ns, 8 is 8 to 9 ns, 12 is 16 to 19 ns.
 */
static inline __u32 sampler_cost_bucket(__u64 ns)
{
	__u64 rest = ns;
	__u32 octave = 0, bucket;

	if (ns < 1 << SAMPLER_COST_STEP_BITS)
		return ns;
	for (__u32 step = 32; step; step /= 2) {
		if (rest >> step) {
			rest >>= step;
			octave += step;
		}
	}
	bucket = (octave - SAMPLER_COST_STEP_BITS + 1) << SAMPLER_COST_STEP_BITS;
	bucket += ns >> (octave - SAMPLER_COST_STEP_BITS) & ((1 << SAMPLER_COST_STEP_BITS) - 1);
	return bucket < SAMPLER_COST_BUCKETS ? bucket : SAMPLER_COST_BUCKETS - 1;
}

#endif
