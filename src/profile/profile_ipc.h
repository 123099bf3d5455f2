/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions per cycle of rows, where both were counted in one group of events. */
#ifndef PROFILE_PROFILE_IPC_H
#define PROFILE_PROFILE_IPC_H

#include <stdbool.h>

#include "profile/groups.h"
#include "profile/identity.h"
#include "profile/profile.h"

/*
 * Sets cycles and instructions of the rows of all events that are in such a group. FUNCTIONS are
 * those that the rows were made with.
 */
void profile_ipc_add(struct profile *profile, struct identities *functions);

#endif
