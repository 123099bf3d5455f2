/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile of a session that is read live (session/live/live_session.h): samples are counted one
 * after another, and count for less with time. What is counted so far can be looked at as a profile
 * at any time.
 */
#ifndef PROFILE_LIVE_PROFILE_H
#define PROFILE_LIVE_PROFILE_H

#include "profile/profile.h"

struct live_profile;

/*
 * OPTIONS are copied, the filter is borrowed; without ipc and by_name. A sample without a chain
 * counts as one that consists of its function.
 */
struct live_profile *live_profile_create(struct session *session,
					 const struct profile_options *options);
void live_profile_destroy(struct live_profile *live); /* takes NULL */
/* False: the session has more events now, and another profile is needed. */
bool live_profile_fits(const struct live_profile *live);

void live_profile_count(struct live_profile *live, const struct session_sample *sample);
/* Before the session takes another record than a sample. */
void live_profile_settle(struct live_profile *live);

/*
 * What is counted so far, sorted; borrowed, until the next call. The totals are of all samples
 * since the beginning: these do not decay.
 */
const struct profile *live_profile_look(struct live_profile *live);
/* The totals that it would have then; the profile stays as it is. */
struct profile_totals live_profile_totals(struct live_profile *live);
/* Of these the samples that came: what they leave is known of the recording, not counted here. */
struct profile_totals live_profile_counted(struct live_profile *live);
/*
 * What was counted so far counts for so many eighths of what it did: 7 at each refresh as in perf
 * top (he_stat__decay() in tools/perf/util/hist.c), or 0 for its -z.
 */
#define LIVE_PROFILE_EIGHTHS 7
void live_profile_decay(struct live_profile *live, unsigned eighths);
/* How many things are kept: addresses, groups, chains. */
size_t live_profile_size(const struct live_profile *live);

#endif
