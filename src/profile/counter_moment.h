/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups by the keys that differ from sample to sample: time, CPU and texts. Internal. */
#ifndef PROFILE_COUNTER_MOMENT_H
#define PROFILE_COUNTER_MOMENT_H

#include "profile/counter.h"

/* When the quantum of TIME_NS began, as of perf's sort__time_sort. */
uint64_t counter_quantum_of(struct counter *counter, uint64_t time_ns);
/*
 * The groups of SAMPLE and of its chain, two numbers as in CONTEXT's row and chain_row. They belong
 * to COUNTER, which has moments, and are valid until the next call.
 */
const uint32_t *counter_find_moment(struct counter *counter, const struct session_sample *sample,
				    const struct context *context);

#endif
