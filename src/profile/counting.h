/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads all samples of a recording, in several threads if useful. Part of profile.c. */
#ifndef PROFILE_COUNTING_H
#define PROFILE_COUNTING_H

#include "profile/counter.h"

/* Counts them with COUNTER, whose session is at its start. False: the recording is damaged. */
bool counting_run(struct counter *counter);

#endif
