/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory each guest's tables may take in the recorder, and whose turn it is to be read. A
 * guest chooses what it maps and loads, so it chooses how much there is to keep of it, and how long
 * it takes to be read.
 *
 * Half of the memory for all guests is divided equally among them: that share is a guest's own,
 * whatever the others take. The other half goes to those that ask first. What was granted to a
 * guest is not taken back when others appear.
 */
#ifndef HOST_RECORD_GUEST_QUOTA_H
#define HOST_RECORD_GUEST_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

struct guest_quota {
	size_t held_bytes;
	bool there;
	bool told; /* that something was refused: for the caller */
	uint64_t refused;
};

struct guest_quotas {
	VECTOR(struct guest_quota) guests; /* by VM number */
	size_t all_bytes, one_bytes;       /* the most that all guests, and one, may hold */
	size_t there_count;
};

/* The limits that suit this host's memory. */
void guest_quotas_init(struct guest_quotas *quotas);
void guest_quotas_deinit(struct guest_quotas *quotas);
/* VM takes part from now on, until guest_quotas_end(). */
void guest_quotas_begin(struct guest_quotas *quotas, uint32_t vm);
void guest_quotas_end(struct guest_quotas *quotas, uint32_t vm);
/* False: VM, which has begun, may not hold BYTES more; this is counted. */
bool guest_quotas_charge(struct guest_quotas *quotas, uint32_t vm, size_t bytes);
/* Of what was charged, also after VM's end. */
void guest_quotas_release(struct guest_quotas *quotas, uint32_t vm, size_t bytes);

/* The time that reading a guest took lately. Times are those of CLOCK_MONOTONIC. */
struct guest_turn {
	uint64_t spent_ns, at_ns;
	uint64_t rests_until_ns; /* while others want to be read, too */
};

/* Reading it took COST_NS, and has just ended. What was long ago counts less. */
void guest_turn_spend(struct guest_turn *turn, uint64_t now_ns, uint64_t cost_ns);
/* Whether LEFT's turn comes before RIGHT's: the one that took less time. */
bool guest_turn_is_before(const struct guest_turn *left, const struct guest_turn *right,
			  uint64_t now_ns);

#endif
