/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up capabilities and the user root, for good. */
#ifndef WALLS_RIGHTS_H
#define WALLS_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

bool rights_have(int capability); /* CAP_…, effective */

#define RIGHT(capability) (1ULL << (capability))

/*
 * Keeps those capabilities that this process has and KEPT, a set of RIGHT(CAP_…), includes. No
 * program that it starts has others. Concerns the calling thread: call it before others start.
 */
struct error *rights_keep(uint64_t kept) MUST_CHECK;
/*
 * The same, and if this process is root, it becomes the user and group UID, without other groups.
 */
struct error *rights_keep_as(unsigned int uid, uint64_t kept) MUST_CHECK;

#endif
