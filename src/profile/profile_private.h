/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From counts to a profile: the steps that profile.c and live_profile.c have in common. */
#ifndef PROFILE_PROFILE_PRIVATE_H
#define PROFILE_PROFILE_PRIVATE_H

#include "profile/counter.h"
#include "profile/identity.h"
#include "profile/profile.h"

/* Decides which functions of call chains are the same; NULL: chains are not wanted. */
struct identities *profile_create_functions(struct profile *profile,
					    const struct profile_options *options);
/*
 * Adds samples that are not in the recording to the totals. Of those only the VM is known: no other
 * condition holds for them.
 */
void profile_add_unwritten(struct profile *profile, const struct profile_options *options);
void profile_build_rows(struct profile *profile, const struct counter *counter);
/* What percentages of the events are of. */
void profile_sum_events(struct profile *profile, const struct counter *counter);

#endif
