/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branches that the processor recorded before a sample (PERF_SAMPLE_BRANCH_STACK): struct
 * perf_branch_entry of include/uapi/linux/perf_event.h.
 */
#ifndef PERFDATA_BRANCH_H
#define PERFDATA_BRANCH_H

#include "perfdata/sample.h"

#define PERFDATA_BRANCH_BYTES 24 /* of one, in a sample */

struct perfdata_branch {
	uint64_t from, to;
	bool mispredicted, predicted; /* neither: the processor does not say */
	bool in_transaction, abort;
	uint16_t cycles; /* since the branch before; 0: not known */
	uint8_t type;	 /* PERF_BR_*; 0: not known */
};

/* Branch NUMBER < SAMPLE->branch_count, the newest first. SWAP: as perfdata_sample_decode(). */
struct perfdata_branch perfdata_branch_take(const struct perfdata_sample *sample, bool swap,
					    uint64_t number);

/* Whether samples of ATTR have branches that are calls only: `perf record --call-graph lbr`. */
bool perfdata_branch_is_call_stack(const struct perf_event_attr *attr);
/*
 * Where such calls are recorded, they take the place of the program's part of SAMPLE's call chain,
 * as in perf (tools/perf/util/machine.c, resolve_lbr_callchain_sample()). SCRATCH holds the chain
 * then; what is in it must be the sample's.
 */
void perfdata_branch_chain(const struct perf_event_attr *attr, bool swap, struct buffer *scratch,
			   struct perfdata_sample *sample);

#endif
