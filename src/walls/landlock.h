/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a process may open: Landlock (Linux 5.13). */
#ifndef WALLS_LANDLOCK_H
#define WALLS_LANDLOCK_H

#include <stdbool.h>

#include "base/error.h"
#include "walls/walls.h"

/* The version of the kernel's interface; 0: it has no Landlock, or does not let us use it. */
int landlock_version(void);
/*
 * From now on, this thread and those that it starts can open only what NEEDS describes (walls.h).
 * Requires landlock_version() and PR_SET_NO_NEW_PRIVS. Files that are open stay usable.
 */
struct error *landlock_restrict(const struct walls *needs) MUST_CHECK;

#endif
